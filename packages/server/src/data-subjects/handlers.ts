import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { AnswerCopies } from "./answer-copies.ts";
import { eraseDataSubject, exportDataSubject, findAnswers } from "./data-subjects.ts";
import type { PersonDataByTable } from "./declarations.ts";
import type { DataSubjectDeps } from "./deps.ts";

/** The handlers of `people`, as the API calls data subjects; `tables` says what each table holds of people. */
export function dataSubjectHandlers(tables: PersonDataByTable): Handlers<typeof contract.people, DataSubjectDeps> {
  return {
    get: (input, { read, deps, workspaceId }) => exportDataSubject(read, deps, tables, workspaceId, input),
    erase: {
      prepare: ({ person }, { read, deps, workspaceId }) => findAnswers(read, deps, workspaceId, person),
      run: ({ person }, { tx, deps, workspaceId }, answers: AnswerCopies) =>
        eraseDataSubject(tx, deps, tables, workspaceId, person, answers),
    },
  };
}
