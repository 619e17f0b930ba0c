import { Command } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { EXIT } from "../runtime/exit.ts";
import { shellQuote } from "../runtime/request.ts";

/** `mailsvc env`: prints the current settings as shell exports, with the whole key. */
export function envCommand(run: Run): Command {
  const command = new Command("env")
    .description("Print the server and key in use as shell variables")
    .addHelpText("after", '\nExamples:\n  eval "$(mailsvc env)"\n  eval "$(mailsvc env --profile builder)"');
  return runAction(command, run, "connect", async (session) => {
    const { url, apiKey, operatorKey } = session.settings();
    const variables = {
      MAILSVC_URL: url,
      ...(apiKey === undefined ? {} : { MAILSVC_API_KEY: apiKey }),
      ...(operatorKey === undefined ? {} : { MAILSVC_OPERATOR_KEY: operatorKey }),
    };
    // Text in a pipe too, because a shell reads it; JSON only when asked for.
    if (session.globals.json) await session.out.document(variables);
    else
      await session.out.text(
        Object.entries(variables)
          .map(([name, value]) => `export ${name}=${shellQuote(value)}\n`)
          .join(""),
      );
    return EXIT.ok;
  });
}
