/** @jsxImportSource preact */
import type { Activation } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { ActionButton } from "../action-button.tsx";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";

interface Props {
  readonly agent: Activation;
  readonly update: NonNullable<Activation["update"]>;
  readonly done: () => void;
}

/**
 * Permissions that a newer version of an agent asks for, and the two answers. The shown version stays while a person reads it: a later
 * one is shown when they ask for it, and only then can it be accepted.
 */
export function AskedScopes({ agent: { id, agentName }, update, done }: Props) {
  const [read, setRead] = useState(update);
  const { version, scopes } = read;
  const { keptAt } = update;
  const answer = (verb: "accept" | "keep", said: string) => async (): Promise<void> => {
    await api.activations[verb](id, { version });
    toast(said);
    done();
  };
  return (
    <section class={`card summary${keptAt === null ? " warn" : ""}`}>
      <h2>{keptAt === null ? "It asks for more" : "You decided against more"}</h2>
      <p class="soft">
        {keptAt === null ? (
          `${agentName} works on with what you have accepted. A new version also wants to:`
        ) : (
          <>
            <Time at={keptAt} />. A new version also wants to:
          </>
        )}
      </p>
      <ul class="grants">
        {scopes.map(({ scope, grants }) => (
          <li key={scope}>
            <span>{grants}</span>
            <code class="soft">{scope}</code>
          </li>
        ))}
      </ul>
      {version !== update.version ? (
        <div class="buttons after">
          <p class="soft">The agent asks for something else by now.</p>
          <ActionButton label="Show what it asks for" act={async () => setRead(update)} />
        </div>
      ) : may("marketplace:write") ? (
        <div class="buttons after">
          <ActionButton label="Accept" primary act={answer("accept", "Accepted")} />
          {keptAt === null ? <ActionButton label="Keep what it has" act={answer("keep", "It keeps what it has")} /> : null}
        </div>
      ) : null}
    </section>
  );
}
