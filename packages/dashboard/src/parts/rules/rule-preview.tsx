/** @jsxImportSource preact */
import type { SegmentPreview } from "@mailsvc/sdk/contract";
import { formatContactName } from "@mailsvc/sdk/contract/facts";
import { toHref } from "../../router.tsx";
import { STATUS_WORDS } from "../audience/words.ts";
import { formatCount, formatMinimum } from "../plural.ts";
import { Status } from "../status.tsx";

interface Props {
  readonly preview: SegmentPreview | null;
  readonly loading: boolean;
  /** Reason the rule cannot be counted; null if it can. */
  readonly missing: "incomplete" | "wrong" | null;
}

const MISSING = {
  incomplete: "Complete the conditions to see who matches.",
  wrong: "Correct what is marked to see who matches.",
} as const;

/** Number of people who match a rule, and the newest of them. */
export function RulePreview({ preview, loading, missing }: Props) {
  const shown = missing === null ? preview : null;
  return (
    <section class="card rule-preview" aria-busy={loading}>
      <p role="status" class="matching">
        {shown === null ? (
          <span class="soft">{missing === null ? "Counting…" : MISSING[missing]}</span>
        ) : (
          <>
            <strong class="number">{formatMinimum(shown.count, shown.countIsMinimum === true)}</strong>{" "}
            {shown.count === 1 ? "person matches" : "people match"}
          </>
        )}
      </p>
      {shown === null || shown.contacts.length === 0 ? null : (
        <ul class="items">
          {shown.contacts.map((contact) => (
            <li key={contact.id}>
              <a href={toHref(`/contacts/${contact.id}`)}>{contact.email}</a>
              <div class="what">
                <span class="soft">{formatContactName(contact)}</span>
                <Status status={contact.status} text={STATUS_WORDS[contact.status]} />
              </div>
            </li>
          ))}
          {shown.count > shown.contacts.length ? (
            <li class="soft">and {shown.countIsMinimum ? "many" : formatCount(shown.count - shown.contacts.length)} more</li>
          ) : null}
        </ul>
      )}
    </section>
  );
}
