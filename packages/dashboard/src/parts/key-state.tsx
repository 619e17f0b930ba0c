/** @jsxImportSource preact */
import type { Key } from "@mailsvc/sdk/contract";
import { Status } from "./status.tsx";

/** The state of an API key. */
export function KeyState({ apiKey: { state, test } }: { readonly apiKey: Key }) {
  return <Status status={state !== "active" ? state : test ? "test" : "live"} />;
}
