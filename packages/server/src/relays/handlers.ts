import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { addRelay, getRelay, type RelayDeps, removeRelay, updateRelay } from "./admin.ts";
import { showRelay } from "./known-relay.ts";
import { testRelay } from "./test-relay.ts";

export const relayHandlers: Handlers<typeof contract.relays, RelayDeps> = {
  list: async (_input, { read, deps }) => {
    await deps.relays.refresh(read);
    return { data: deps.relays.list().map(showRelay) };
  },
  get: async ({ name }, { deps }) => showRelay(await getRelay(deps, name)),
  add: (input, { tx, deps }) => addRelay(tx, deps, input),
  update: ({ name, ...changes }, { tx, deps }) => updateRelay(tx, deps, name, changes),
  remove: ({ name }, { tx, deps }) => removeRelay(tx, deps, name),
  test: {
    prepare: async ({ name, to, from }, { deps }) => testRelay(deps, await getRelay(deps, name), { to, from }),
    run: async (_input, _context, result) => result,
  },
};
