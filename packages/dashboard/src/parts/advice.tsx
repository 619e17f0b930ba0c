/** @jsxImportSource preact */
import type { Explanation, Permission } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may, mayOperate } from "../api/session.ts";
import { ActionButton } from "./action-button.tsx";
import { CodeBlock } from "./code-block.tsx";

type Action = Explanation["actions"][number];
type Call = NonNullable<Action["call"]>;

interface Props {
  readonly actions: readonly Action[];
  /** Called after a button has done what it says. */
  readonly done: () => void;
}

/** Things that a person can do about an object: a button where the API can do it, and the command for a terminal. */
export function Advice({ actions, done }: Props) {
  return (
    <>
      {actions.map(({ what, command, call }) => {
        const button = call && isAllowed(call) ? <ActionButton label={call.label} act={() => run(call).then(done)} /> : null;
        const code = command === null ? null : <CodeBlock code={command} label={what} />;
        return (
          <div key={what} class="advice">
            <p>{what}</p>
            {button}
            {button === null || code === null ? (
              code
            ) : (
              <details>
                <summary class="soft">In a terminal</summary>
                {code}
              </details>
            )}
          </div>
        );
      })}
    </>
  );
}

function isAllowed({ permission }: Call): boolean {
  return permission === "operator" ? mayOperate() : may(permission as Permission);
}

async function run({ operation, path, body }: Call): Promise<void> {
  const [noun = "", verb = ""] = operation.split(".");
  const call = (api as Readonly<Record<string, Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>>>)[noun]?.[verb];
  if (!call) throw new Error("This page is of another version than the server. Load it again.");
  await call(...path, ...(body ? [body] : []));
}
