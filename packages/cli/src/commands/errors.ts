import { ERROR_CODES, ERRORS } from "@mailsvc/sdk/contract";
import { Command } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { EXIT, EXIT_MEANING, type Exit, getCodeExit } from "../runtime/exit.ts";
import { renderTable } from "../views/table.ts";

/** `mailsvc errors`: every error code of the API with its HTTP status and exit code. */
export function errorsCommand(run: Run): Command {
  return runAction(
    new Command("errors").description("List error codes, their HTTP status and exit code"),
    run,
    "local",
    async (session) => {
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
