/** @jsxImportSource preact */
import type { CampaignAudience } from "@mailsvc/sdk/contract";
import { AddChoice } from "../add-choice.tsx";
import { ErrorNote } from "../error-note.tsx";
import { findMessages } from "../field-messages.ts";
import { count as plural } from "../plural.ts";
import type { Resource } from "../resource.ts";
import type { CampaignDraft, CampaignFields } from "./draft.ts";
import { describeAudience, type Group, listIncluded } from "./groups.ts";

interface Props {
  readonly draft: CampaignDraft;
  readonly groups: readonly Group[];
  readonly audience: Resource<CampaignAudience>;
}

/** Audience of the campaign: all contacts, or lists and segments, and exclusions. */
export function AudienceFields({ draft, groups, audience }: Props) {
  const campaign = draft.fields.value;
  const { recipientType, exclude } = campaign;
  const error = draft.error.value;
  const included = listIncluded(campaign);
  const chooseGroups = (include: readonly string[]): void => draft.set({ ...TO_GROUPS, include: [...include] });
  const wrong = [findMessages(error, "include"), findMessages(error, "exclude")].filter((text) => text !== "").join(" ");
  return (
    <section class="card form" aria-labelledby="audience">
      <h2 id="audience">Audience</h2>
      {recipientType === "resend" ? (
        <p>{describeAudience({ ...campaign, exclude: [] }, groups)}.</p>
      ) : (
        <fieldset class="radios">
          <legend class="hidden">Who gets it</legend>
          <label class="check">
            <input type="radio" name="audience" checked={recipientType === "all"} onChange={() => draft.set(TO_ALL)} /> All contacts
          </label>
          <label class="check">
            <input type="radio" name="audience" checked={recipientType !== "all"} onChange={() => chooseGroups(included)} /> Lists and
            segments
          </label>
        </fieldset>
      )}
      {recipientType === "all" || recipientType === "resend" ? null : (
        <GroupPicker label="Send to" empty="Choose at least one list or segment." chosen={included} groups={groups} choose={chooseGroups} />
      )}
      <GroupPicker label="Leave out" chosen={exclude} groups={groups} choose={(ids) => draft.set({ exclude: [...ids] })} />
      {wrong !== "" && included.length > 0 ? (
        <p class="hint wrong" role="alert">
          {wrong}
        </p>
      ) : null}
      <AudienceCount audience={audience} known={recipientType === "all" || recipientType === "resend" || included.length > 0} />
    </section>
  );
}

const TO_ALL: CampaignFields = { recipientType: "all", include: [], listId: null, segmentId: null };
const TO_GROUPS: CampaignFields = { recipientType: "groups", listId: null, segmentId: null };

/** Number of people who would get it now. */
function AudienceCount({
  audience: { data, error, reload },
  known,
}: {
  readonly audience: Resource<CampaignAudience>;
  readonly known: boolean;
}) {
  if (!known) return null;
  if (error !== null && data === null) return <ErrorNote title="The audience could not be counted" error={error} retry={reload} />;
  return (
    <p class="audience-count" role="status">
      {data === null ? (
        <span class="soft">Counting…</span>
      ) : (
        <>
          <strong>{plural(data.subscribed, "person", "people")}</strong>{" "}
          <span class="soft">
            {data.subscribed === 1 ? "gets" : "get"} it if you send it now{describeOthers(data)}
          </span>
        </>
      )}
    </p>
  );
}

/** Describes the skipped and excluded people. */
export function describeOthers({ contacts, subscribed, excluded }: CampaignAudience): string {
  const skipped = contacts - subscribed;
  const parts = [
    ...(skipped === 0 ? [] : [`${plural(skipped, "more is skipped", "more are skipped")}: unsubscribed, bounced or complained`]),
    ...(excluded === 0 ? [] : [`${plural(excluded, "is left out", "are left out")}`]),
  ];
  return parts.length === 0 ? "." : `. ${parts.join("; ")}.`;
}

interface PickerProps {
  readonly label: string;
  /** Text shown while nothing is chosen. */
  readonly empty?: string;
  readonly chosen: readonly string[];
  readonly groups: readonly Group[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Chosen lists and segments, and a choice of those that can be added. */
function GroupPicker({ label, empty, chosen, groups, choose }: PickerProps) {
  const left = groups.filter(({ id }) => !chosen.includes(id));
  const options = (type: Group["type"], name: string) => {
    const some = left.filter((group) => group.type === type);
    return some.length === 0 ? null : (
      <optgroup label={name}>
        {some.map((group) => (
          <option key={group.id} value={group.id}>
            {`${group.name} (${plural(group.memberCount, "contact")})`}
          </option>
        ))}
      </optgroup>
    );
  };
  return (
    <div class="picker">
      <span class="picker-label">{label}</span>
      {chosen.length === 0 ? null : (
        <ul class="chips">
          {chosen.map((id) => {
            const name = groups.find((group) => group.id === id)?.name ?? "Deleted list or segment";
            return (
              <li key={id} class="chip">
                <span>{name}</span>
                <button type="button" aria-label={`Remove ${name}`} onClick={() => choose(chosen.filter((one) => one !== id))}>
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
      {left.length === 0 ? (
        groups.length === 0 ? (
          <p class="hint soft">There are no lists or segments yet.</p>
        ) : null
      ) : (
        <AddChoice label={`${label}: add a list or segment`} placeholder="Add a list or segment…" add={(id) => choose([...chosen, id])}>
          {options("list", "Lists")}
          {options("segment", "Segments")}
        </AddChoice>
      )}
      {empty !== undefined && chosen.length === 0 ? <p class="hint wrong">{empty}</p> : null}
    </div>
  );
}
