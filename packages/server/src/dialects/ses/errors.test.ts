import { ERROR_CODES, ERRORS } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ApiError } from "../../lib/api-error.ts";
import { describeError } from "./errors.ts";

const headers = { get: (name: string) => (name === "authorization" ? "AWS4-HMAC-SHA256 Credential=k/20300131/eu/ses/aws4_request" : null) };

test.each(ERROR_CODES)("%s is answered so that a program of AWS tries again exactly where that can help", (code) => {
  const { status, body } = describeError(new ApiError(code, "Something."), headers as never);
  const ours = ERRORS[code].status;
  expect(status >= 500 || status === 429).toBe(ours >= 500 || ours === 429);
  expect(status === 403).toBe(ours === 401 || ours === 403);
  expect((body as { __type: string }).__type).toMatch(/^[A-Z][A-Za-z]+$/);
});
