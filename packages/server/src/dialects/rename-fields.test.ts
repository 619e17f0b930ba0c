import { contract } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ApiError } from "../lib/api-error.ts";
import { renameFields } from "./rename-fields.ts";

const endpoint = contract.senders.create;

test.each([
  ["domain", '"my domain" is not a domain name.', '"my domain" is not a domain name.'],
  ["domain", "domain must be a string.", "name must be a string."],
  ["domain", 'No domain is called "replyTo".', 'No domain is called "replyTo".'],
  ["headers.a\\", "headers.a\\: not a name.", "headers.a\\: not a name."],
  ["headers.(", "headers.(: not a name.", "headers.(: not a name."],
  ["replyTo.*", "replyTo.*: not a name.", "reply_to.*: not a name."],
  ["replyTo[1]", "replyTo[1]: no address. replyTo takes addresses.", "reply_to[1]: no address. reply_to takes addresses."],
])("an error at %s names the field of the dialect, and leaves words and values: %s", async (path, message, wanted) => {
  const error = new ApiError("validation_error", message, { details: [{ path, code: "invalid", message }] });
  const fail = async () => {
    throw error;
  };
  const calls = renameFields(
    { read: fail, write: fail, prepare: fail, authorize: fail } as unknown as Parameters<typeof renameFields>[0],
    new Map([[endpoint, { domain: "name", replyTo: "reply_to" }]]),
  );
  await expect(calls.write(endpoint, {} as never, {} as never)).rejects.toMatchObject({ message: wanted, details: [{ message: wanted }] });
});
