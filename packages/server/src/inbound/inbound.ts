export { setBounceAddresses } from "./bounce-address.ts";
export { createReturnPath, type ReturnPath } from "./return-path.ts";
