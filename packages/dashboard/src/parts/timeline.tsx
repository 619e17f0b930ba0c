/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Time } from "./time.tsx";

/** One thing that happened. */
export interface TimelineItem {
  readonly at: string;
  readonly what: ComponentChildren;
  /** The cause or the meaning. */
  readonly why?: ComponentChildren;
  /** Tone: good, busy, warn, bad or plain. */
  readonly tone?: string;
  /** Still to come. */
  readonly planned?: boolean;
}

/** History of an object, oldest first. */
export function Timeline({ items }: { readonly items: readonly TimelineItem[] }) {
  return (
    <ol class="timeline">
      {items.map(({ at, what, why, tone = "plain", planned }, i) => (
        <li key={i} class={`${tone}${planned ? " planned" : ""}`}>
          <div class="what">
            <span>{what}</span>
            {at === "" ? null : <Time at={at} exactly />}
          </div>
          {why ? <p>{why}</p> : null}
        </li>
      ))}
    </ol>
  );
}
