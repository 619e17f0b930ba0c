import { expect, test } from "vitest";
import { StorageUnavailable } from "../errors.ts";
import { openingError } from "./pool.ts";

const URL = "postgres://mail:hidden@db.example:5433/mailsvc";

test.each([
  ["ECONNREFUSED", "Postgres at db.example:5433 cannot be reached (ECONNREFUSED). Check that it is running, and the address in the URL."],
  ["3D000", "Postgres at db.example:5433 has no database mailsvc (3D000). Create it with createdb, or correct the URL."],
  ["28P01", "Postgres at db.example:5433 refused the user mail (28P01). Check the user and password in the URL."],
  ["42501", "The user mail may not create the tables of mailsvc (42501). Make it the owner: alter database mailsvc owner to mail"],
  ["3F000", "The search_path of the user mail names no schema that exists (3F000). Create the schema, or correct the search_path."],
  [
    "25006",
    "Postgres at db.example:5433 takes no writes (25006). Give the URL of the primary server, or turn off default_transaction_read_only.",
  ],
  [
    "53300",
    "Postgres at db.example:5433 has no connection left (53300). Raise its max_connections, or lower --database-connections, which is 16 by default.",
  ],
])("a database that cannot be opened says why and what to do: %s", (code, message) => {
  const error = openingError(Object.assign(new Error("from the driver"), { code }), URL);
  expect(error).toBeInstanceOf(StorageUnavailable);
  expect((error as Error).message).toBe(message);
});

test("a server on a socket has no address", () => {
  const error = openingError(Object.assign(new Error(), { code: "ENOENT_NOT" }), "postgres:///mailsvc?host=/run/postgresql");
  expect(error).toMatchObject({ code: "ENOENT_NOT" });
  expect(openingError(Object.assign(new Error(), { code: "3D000" }), "postgres:///mailsvc?host=/run/postgresql")).toMatchObject({
    message: "Postgres has no database mailsvc (3D000). Create it with createdb, or correct the URL.",
  });
});
