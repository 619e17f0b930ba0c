export { assertAssets } from "./assets.ts";
export { getFileRow } from "./library.ts";
export { assetUrl, downloadPath, makeLinkToken, openLinkToken } from "./links.ts";
