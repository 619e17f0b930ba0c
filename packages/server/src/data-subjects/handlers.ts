import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { eraseDataSubject, exportDataSubject, findEmailCopiesOf } from "./data-subjects.ts";
import type { PersonDataByTable } from "./declarations.ts";
import type { DataSubjectDeps } from "./deps.ts";
import type { EmailCopy } from "./email-copies.ts";

/** The handlers of `people`, as the API calls data subjects; `tables` says what each table holds of people. */
export function dataSubjectHandlers(tables: PersonDataByTable): Handlers<typeof contract.people, DataSubjectDeps> {
  return {
    get: (input, { read, deps, workspaceId }) => exportDataSubject(read, deps, tables, workspaceId, input),
    erase: {
      prepare: ({ email }, { read, workspaceId }) => findEmailCopiesOf(read, workspaceId, email),
      run: ({ email }, { tx, deps, workspaceId }, copies: EmailCopy[]) => eraseDataSubject(tx, deps, tables, workspaceId, email, copies),
    },
  };
}
