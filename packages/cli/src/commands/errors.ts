import { ERROR_CODES, ERRORS, type ErrorCode } from "@mailsvc/sdk/contract";
import { Argument, Command } from "commander";
import { setArgumentChoices } from "../contract/metadata.ts";
import { type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, EXIT_MEANING, type Exit, getCodeExit } from "../runtime/exit.ts";
import { findSimilar } from "../runtime/suggestion.ts";
import { renderTable } from "../text/table.ts";
import type { Session } from "../types.ts";

/** `mailsvc errors`: every error code of the API with its HTTP status and exit code. */
export function errorsCommand(run: Run): Command {
  return runAction(
    new Command("errors")
      .description("List error codes, their HTTP status and exit code, or explain one")
      .addArgument(setArgumentChoices(new Argument("[code]", "Code of an error, such as sender_not_verified"), ERROR_CODES)),
    run,
    "local",
    async (session, [code]) => {
      if (code !== undefined) return explain(session, code);
      const { out: style, columns } = session.term;
      const codes = ERROR_CODES.map((code) => ({
        code,
        status: ERRORS[code].status,
        exit: getCodeExit(code),
        cause: ERRORS[code].cause,
        hint: ERRORS[code].hint,
      }));
      const exits = Object.entries(EXIT_MEANING).map(([exit, meaning]) => ({ exit: Number(exit) as Exit, meaning }));
      await session.out.data({ data: codes, exitCodes: exits }, () => {
        const errors = renderTable(
          codes,
          [
            { title: "code", value: (c) => c.code },
            { title: "http", value: (c) => c.status },
            { title: "exit", value: (c) => c.exit },
            { title: "what to do", value: (c) => c.hint, flexible: true },
          ],
          style,
          columns,
        );
        const meanings = renderTable(
          exits,
          [
            { title: "exit", value: (e) => e.exit },
            { title: "meaning", value: (e) => e.meaning, flexible: true },
          ],
          style,
          columns,
        );
        return `${errors}\n\n${meanings}`;
      });
      return EXIT.ok;
    },
  );
}

/** `mailsvc errors CODE`. Throws CliError for a code that there is none of. */
async function explain({ out, term }: Session, given: string): Promise<Exit> {
  if (!Object.hasOwn(ERRORS, given)) {
    const [near] = findSimilar(given, ERROR_CODES);
    throw usageError(`There is no error code ${JSON.stringify(given.slice(0, 60))}.`, {
      ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
      next: "mailsvc errors",
    });
  }
  const code = given as ErrorCode;
  const { status, cause, hint } = ERRORS[code];
  const exit = getCodeExit(code);
  await out.data({ code, status, exit, cause, hint }, () =>
    [`${term.out.bold(code)}  HTTP ${status}, exit code ${exit}`, cause, hint].filter(Boolean).join("\n"),
  );
  return EXIT.ok;
}
