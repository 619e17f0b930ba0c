/** @jsxImportSource preact */
import type { CampaignDetail } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { go } from "../../router.tsx";
import { ActionButton } from "../action-button.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { startShown } from "../current.ts";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { count as plural } from "../plural.ts";
import { useResource } from "../resource.ts";
import { toast } from "../toast.tsx";
import { DeleteCampaign, DuplicateCampaign } from "./common-actions.tsx";
import { setLocalTime } from "./local-time.ts";
import { findFault, findStart, readWhen, type When, WhenFields } from "./send-time.tsx";
import { isDeletable, isWaiting } from "./states.ts";

interface Props {
  readonly campaign: CampaignDetail;
  readonly done: () => void;
}

/** Actions for a campaign past the draft, by its state. */
export function CampaignActions({ campaign, done }: Props) {
  const { id, status, startedAt } = campaign;
  const act = (change: () => Promise<unknown>, said: string) => async (): Promise<void> => {
    await change();
    toast(said);
    done();
  };
  return (
    <>
      {status === "SENDING" ? <ActionButton label="Pause" primary act={act(() => api.campaigns.pause(id), "Paused")} /> : null}
      {status === "PAUSED" && startedAt !== null ? (
        <ActionButton label="Resume" primary act={act(() => api.campaigns.resume(id), "Sending goes on")} />
      ) : null}
      {isWaiting(campaign) ? <Waiting campaign={campaign} done={done} /> : null}
      {startedAt !== null && (status === "SENT" || status === "CANCELLED") ? <SendAgain campaign={campaign} /> : null}
      <DuplicateCampaign campaign={campaign} />
      {status === "SENDING" || status === "SCHEDULED" || status === "PAUSED" ? (
        <ConfirmButton
          label="Cancel the campaign"
          question="Cancel this campaign for good?"
          danger
          act={act(() => api.campaigns.cancel(id), "Cancelled")}
        >
          <p>
            {startedAt === null
              ? "It is not sent. To only move its date, choose Change the date."
              : "Those who got nothing yet get nothing. What was sent stays sent. This cannot be undone."}
          </p>
        </ConfirmButton>
      ) : null}
      {isDeletable(campaign) ? <DeleteCampaign campaign={campaign} /> : null}
    </>
  );
}

/** A campaign that waits for its time, or was held before it. */
function Waiting({ campaign, done }: Props) {
  const { id, name } = campaign;
  const toDraft = async (): Promise<void> => {
    await api.campaigns.update(id, { scheduledAt: null });
    toast("It is a draft again");
    go(`/campaigns/${id}/edit`);
  };
  const send = async (): Promise<void> => {
    await startShown(() => startNow(campaign), done);
    toast("Sending has started");
    done();
  };
  return (
    <>
      <ConfirmButton label="Send now" question={`Send ${name} now?`} act={send}>
        <SendNowCount id={id} />
      </ConfirmButton>
      <ChangeDate campaign={campaign} done={done} />
      <ConfirmButton label="Edit" question="Make it a draft again?" act={toDraft}>
        <p>It is not sent until you send or schedule it again.</p>
      </ConfirmButton>
    </>
  );
}

/** A campaign that was held before its start begins by being resumed. */
async function startNow({ id, status, revision }: Pick<CampaignDetail, "id" | "status" | "revision">): Promise<void> {
  await (status === "PAUSED" ? api.campaigns.resume(id, { revision }) : api.campaigns.send(id, { revision }));
}

function SendNowCount({ id }: { readonly id: string }) {
  const { data } = useResource((signal) => api.campaigns.audience(id, { signal }), [id]);
  return <p>{data === null ? "It starts at once." : `${plural(data.subscribed, "person gets", "people get")} it. It starts at once.`}</p>;
}

function ChangeDate({ campaign, done }: Props) {
  const read = (): When => ({ ...readWhen(campaign), ...(campaign.localTime === null && { kind: "at" as const }) });
  const [when, choose] = useState(read);
  const { scheduledAt, localTime } = campaign;
  // A colleague may have moved it meanwhile.
  useEffect(() => choose(read()), [scheduledAt, localTime?.at]);
  const act = async (_: FormValues): Promise<void> => {
    const fault = findFault(when);
    if (fault !== null) throw new Error(fault);
    const start = findStart(when);
    await startShown(async () => {
      const shown = await setLocalTime(campaign, when);
      if (start === null) await startNow(shown);
      else await api.campaigns.schedule(shown.id, { scheduledAt: new Date(start).toISOString(), revision: shown.revision });
    }, done);
    toast(start === null ? "Sending has started" : "The date is changed");
    done();
  };
  const { abTest } = campaign;
  return (
    <FormButton label="Change the date" title="When to send it" submit="Save" act={act}>
      <WhenFields
        when={when}
        choose={choose}
        localFault={
          abTest !== null && abTest.samplePercent < 100 ? "With a winner to wait for, all readers get it at the same time." : null
        }
      />
    </FormButton>
  );
}

/** Makes a draft for those who did not open it, did not click in it, or whom it did not reach. */
function SendAgain({ campaign: { id, name, subjectLine, trackOpens, trackClicks } }: { readonly campaign: CampaignDetail }) {
  const act = async (values: FormValues): Promise<void> => {
    const to = values.text("to") as "not_opened" | "not_clicked" | "failed";
    const draft = await api.campaigns.resend(id, { to, ...values.filled("name", "subjectLine") });
    toast("A draft for them");
    go(`/campaigns/${draft.id}/edit`);
  };
  const choice = (value: string, text: string, why: string | null, checked: boolean) => (
    <label class="check">
      <input type="radio" name="to" value={value} required disabled={why !== null} defaultChecked={checked && why === null} />
      <span>
        {text}
        {why === null ? "" : <span class="soft">: {why}</span>}
      </span>
    </label>
  );
  return (
    <FormButton label="Send again" title="Send it again" submit="Make the draft" act={act}>
      <fieldset class="radios">
        <legend class="hidden">To whom</legend>
        {choice("not_opened", "To those who did not open it", trackOpens ? null : "this campaign counts no opens", true)}
        {choice("not_clicked", "To those who did not click in it", trackClicks ? null : "this campaign counts no clicks", !trackOpens)}
        {choice("failed", "To those whom it did not reach", null, !trackOpens && !trackClicks)}
      </fieldset>
      <Field label="Subject">
        <input name="subjectLine" defaultValue={subjectLine} maxLength={998} autocomplete="off" />
      </Field>
      <Field label="Name">
        <input name="name" defaultValue={`${name}, again`.slice(0, 200)} maxLength={200} autocomplete="off" />
      </Field>
      <p class="hint soft">Anyone who has unsubscribed since is skipped. Nothing is sent until you send the draft.</p>
    </FormButton>
  );
}
