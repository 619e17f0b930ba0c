import type { contract } from "@mailsvc/sdk/contract";
import type { ContactLinks } from "../contacts/contacts.ts";
import type { Handlers } from "../http/handler.ts";
import { eraseDataSubject, exportDataSubject, findEmailCopiesOf } from "./data-subjects.ts";
import type { DataSubjectDeps } from "./deps.ts";
import type { EmailCopy } from "./email-copies.ts";

/** The handlers of `people`, as the API calls data subjects; `links` lists the features that store something about contacts. */
export function dataSubjectHandlers(links: readonly ContactLinks[]): Handlers<typeof contract.people, DataSubjectDeps> {
  return {
    get: (input, { read, deps, workspaceId }) => exportDataSubject(read, workspaceId, input, links, deps.clock.now()),
    erase: {
      prepare: ({ email }, { read, workspaceId }) => findEmailCopiesOf(read, workspaceId, email),
      run: ({ email }, { tx, deps, workspaceId }, copies: EmailCopy[]) => eraseDataSubject(tx, deps, workspaceId, email, copies, links),
    },
  };
}
