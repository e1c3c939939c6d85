// Debian's d3 comes without types but for d3-array's; what is used of it is little, and any there.
declare module "d3-array";
declare module "d3-quadtree";
declare module "d3-scale";
declare module "d3-selection";
declare module "d3-zoom";
