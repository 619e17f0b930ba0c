import manifest from "../../package.json" with { type: "json" };

/** The oldest version of Node that the packages run on, such as `22.19`. */
export const MINIMUM_NODE = manifest.engines.node.replace(">=", "");
