import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { Hmac } from "./hmac.ts";
import { seededRandom } from "./random.ts";

test("Hmac agrees with node:crypto for keys and texts of any length", () => {
  const random = seededRandom(7);
  for (const keyLength of [0, 1, 31, 32, 50, 63, 64, 65, 200])
    for (const length of [0, 1, 55, 56, 63, 64, 65, 1000]) {
      const [key, bytes] = [random.bytes(keyLength), random.bytes(length)];
      const mac = new Hmac(key);
      for (const encoding of ["hex", "base64", "base64url"] as const) {
        const expected = createHmac("sha256", key).update(bytes).digest(encoding);
        expect(mac.digest(encoding, bytes)).toBe(expected);
        expect(mac.digest(encoding, bytes.subarray(0, length >> 1), bytes.subarray(length >> 1))).toBe(expected);
      }
    }
});
