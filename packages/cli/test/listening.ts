import type { Result, Setup } from "./harness.ts";
import type { Beside } from "./world.ts";

const hello = { from: "a@acme.example", subject: "Hello", text: "x" };
export const send = ({ world }: Beside, to: string) => world.sdk.emails.send({ ...hello, to });

/** Runs `listen` beside what `during` does once it is ready; ends it by Ctrl-C unless it ends by itself. */
export async function listen(
  beside: Beside,
  argv: readonly string[],
  during: (run: { output: () => string; until: (text: string | RegExp) => Promise<void>; stop: () => void }) => Promise<void>,
  setup: Setup = {},
): Promise<Result> {
  let output = "";
  const heard = new Set<() => void>();
  let stop = (): void => {};
  const running = beside.mailsvc(["listen", ...argv], {
    ...setup,
    onOutput: (text) => {
      output += text;
      for (const hear of heard) hear();
    },
    onStart: (signal) => {
      stop = () => signal("SIGINT");
    },
  });
  const until = (text: string | RegExp): Promise<void> =>
    new Promise((found, failed) => {
      const hear = (): void => {
        if (typeof text === "string" ? output.includes(text) : text.test(output)) {
          heard.delete(hear);
          found();
        }
      };
      heard.add(hear);
      hear();
      void running.then(({ stderr, stdout }) => failed(new Error(`It ended before ${text}:\n${stdout}\n${stderr}`)), failed);
    });
  await until(/"ready"|Ctrl-C ends/);
  await during({ output: () => output, until, stop: () => stop() });
  if (!argv.includes("--count")) stop();
  return running;
}

export const deliveriesOf = ({ lines }: Result) => lines.filter(({ kind }) => kind === "delivery");
