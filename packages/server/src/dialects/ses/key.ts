import type { HeaderReader } from "../../http/headers.ts";

// Authorization: AWS4-HMAC-SHA256 Credential=KEY/20300131/us-east-1/ses/aws4_request, SignedHeaders=…, Signature=…
const SIGNED = /^AWS4-HMAC-SHA256 +(?:.*[ ,])?Credential=([^/,\s]+)\/\d{8}\//;

/**
 * The access key id of a signed request, which is the key; null if it is not signed. The signature itself is not checked: it is made with
 * a secret that this server never had. An id in the address of a request does not count, because addresses end up in logs.
 */
export function readKeyId(headers: HeaderReader): string | null {
  return SIGNED.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}
