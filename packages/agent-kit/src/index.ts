export { SIGNATURE_HEADER, type SignedDelivery, verifySignature } from "./verify.ts";
