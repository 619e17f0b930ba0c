export { assertAssets } from "./assets.ts";
export { assetUrl, downloadPath, findFileRow, getFileRow, makeLinkToken, openLinkToken } from "./library.ts";
