import type { contract } from "@mailsvc/sdk/contract";
import type { ContactLinks } from "../contacts/contacts.ts";
import type { Handlers } from "../http/handler.ts";
import { erasePerson, getPerson, tracesOfPerson } from "./people.ts";
import type { Trace } from "./store.ts";

/** The handlers of people; `links` is what features keep of contacts. */
export function peopleHandlers(links: readonly ContactLinks[]): Handlers<typeof contract.people> {
  return {
    get: (input, { read, deps, workspaceId }) => getPerson(read, workspaceId, input, links, deps.clock.now()),
    erase: {
      prepare: ({ email }, { read, workspaceId }) => tracesOfPerson(read, workspaceId, email),
      run: ({ email }, { tx, deps, workspaceId }, traces: Trace[]) => erasePerson(tx, deps, workspaceId, email, traces, links),
    },
  };
}
