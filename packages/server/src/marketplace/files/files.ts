export { assertAssets } from "./assets.ts";
export { assetUrl, downloadPath, getFileRow, makeLinkToken, openLinkToken } from "./library.ts";
