import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import type { TemplateOrigin } from "@mailsvc/sdk/contract";
import { usageError } from "../runtime/errors.ts";
import { MINIMUM_NODE } from "../runtime/minimum-node.ts";
import { RENDER_PROGRAM } from "./render-program.generated.ts";

/** A file to render. */
interface RenderRequest {
  readonly kind: TemplateOrigin["kind"];
  /** The absolute path of the file. */
  readonly file: string;
  /** The declared variables, which React Email gets as props. */
  readonly variables: readonly unknown[];
}

/** The HTML, or why there is none: packages that the project does not have, or a fault in a file. */
type RenderAnswer =
  | { readonly html: string }
  | { readonly missing: readonly string[] }
  | { readonly error: { readonly message: string; readonly file: string; readonly line?: number; readonly column?: number } };

interface Waiting {
  readonly file: string;
  readonly resolve: (answer: RenderAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Renders files in a child process: the code of a person's project runs in the Node.js of the project, which the binary does not have.
 *
 * | State    | Child                                    | `render`                     |
 * | -------- | ---------------------------------------- | ---------------------------- |
 * | idle     | none yet, or it ended                    | starts one                   |
 * | running  | keeps the packages that it loaded        | asks it; answers in any order |
 * | closed   | ended                                    | is not called                |
 */
export class RenderProcess implements Disposable {
  readonly #env: NodeJS.ProcessEnv;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | null = null;
  #printed = "";
  #count = 0;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Renders a file. Rejects with CliError when Node.js cannot be started, or ends over a file. */
  async render(request: RenderRequest): Promise<RenderAnswer> {
    const child = this.#child ?? this.#start();
    this.#child = child;
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { file: request.file, resolve, reject });
      child.send({ id, ...request });
    });
  }

  [Symbol.dispose](): void {
    this.#child?.disconnect();
    this.#child = null;
  }

  #start(): ChildProcess {
    // A template is rendered the same by everybody, so it does not see whom this command speaks to.
    const env = Object.fromEntries(Object.entries(this.#env).filter(([name]) => !name.startsWith("MAILSVC_")));
    const node = /^node(?:\.exe)?$/.test(basename(process.execPath)) ? process.execPath : "node";
    const child = spawn(node, ["--input-type=module", "--eval", RENDER_PROGRAM], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    const keep = (part: Buffer): void => {
      this.#printed = `${this.#printed}${part}`.slice(-2000);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.on("message", (answer: RenderAnswer & { id: number }) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      waiting?.resolve(answer);
    });
    child.on("error", () =>
      this.#fail(
        usageError("React Email and MJML templates are rendered by the Node.js of your project, and node cannot be started.", {
          hint: `Install Node ${MINIMUM_NODE} or newer, or push the HTML.`,
        }),
      ),
    );
    child.on("exit", (code, signal) => {
      if (this.#child === child) this.#child = null;
      const [first] = [...this.#waiting.values()];
      this.#fail(usageError(`Rendering ${first?.file ?? ""} ended with ${signal ?? `exit code ${code}`}. ${this.#printed.trim()}`.trim()));
    });
    return child;
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
