/** @jsxImportSource preact */
import type { CampaignAudience, CampaignDetail } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { describeOthers } from "../parts/campaigns/audience-fields.tsx";
import { describeAudience, listIncluded, listNamedGroups } from "../parts/campaigns/groups.ts";
import { setLocalTime } from "../parts/campaigns/local-time.ts";
import { CampaignPreview, useLint } from "../parts/campaigns/preview.tsx";
import { findFault, findStart, readWhen, WhenFields } from "../parts/campaigns/send-time.tsx";
import { describePace, describeTest, describeTracking } from "../parts/campaigns/settings.tsx";
import { TestSend } from "../parts/campaigns/test-send.tsx";
import { formatInstant } from "../parts/campaigns/zoned-time.ts";
import { CaptureNote } from "../parts/capture-note.tsx";
import { assertCurrent, startShown } from "../parts/current.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { count as plural } from "../parts/plural.ts";
import { formatReplyTo } from "../parts/reply-to.ts";
import { type Resource, useResource } from "../parts/resource.ts";
import { useSending } from "../parts/sending.ts";
import { Subject } from "../parts/subject.tsx";
import { learnTime } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** Review page of a draft: the outcome of sending it, and the button that sends it. */
export default function CampaignReviewPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const campaign = useResource((signal) => api.campaigns.get(id, { signal }), [id]);
  const { data } = campaign;
  const isDraft = data?.status === "DRAFT" && may("campaigns:write");
  useEffect(() => {
    if (data !== null && !isDraft) go(`/campaigns/${id}`, { replace: true });
  }, [data, isDraft]);
  return (
    <Page
      title={data === null ? "Campaign" : `Review ${data.name}`}
      back={{ href: toHref(`/campaigns/${id}/edit`), name: "Edit" }}
      actions={data !== null && isDraft ? <TestSend campaign={data} /> : null}
    >
      <Loaded from={campaign}>{(shown) => (isDraft ? <Review campaign={shown} reload={campaign.reload} /> : null)}</Loaded>
    </Page>
  );
}

function Review({ campaign, reload }: { readonly campaign: CampaignDetail; readonly reload: () => void }) {
  const { id, revision } = campaign;
  const audience = useResource(
    async (signal) => {
      const answer = await api.campaigns.audience(id, { signal });
      learnTime(answer.computedAt);
      return answer;
    },
    [id, revision],
  );
  const faults = listFaults(campaign, audience);
  return (
    <div class="editor">
      <div class="column">
        <CaptureNote />
        <Checks campaign={campaign} audience={audience} />
        <Send campaign={campaign} audience={audience.data} faults={faults} reload={reload} />
      </div>
      <aside class="column" aria-label="As readers see it">
        <CampaignPreview campaign={campaign} />
      </aside>
    </div>
  );
}

/** Lists the reasons it cannot be sent. */
function listFaults(campaign: CampaignDetail, { data, error }: Resource<CampaignAudience>): readonly string[] {
  const { recipientType, html, text, templateId, abTest, fromEmail } = campaign;
  const included = listIncluded(campaign);
  const same = abTest?.variants.slice(1).some((variant) => Object.keys(variant).length === 0) ?? false;
  return [
    ...(recipientType === "groups" && included.length === 0 ? ["Choose who gets it."] : []),
    ...(html === null && text === null && templateId === null ? ["It has no content yet."] : []),
    ...(fromEmail === "" ? ["It has no sender."] : []),
    ...(same ? ["A variant is the same as A. Give it another subject, or remove it."] : []),
    ...(data !== null && data.subscribed === 0 ? ["Nobody would get it."] : []),
    ...(error === null ? [] : [error.message]),
  ];
}

interface Parts {
  readonly campaign: CampaignDetail;
  readonly audience: Resource<CampaignAudience>;
}

/** Summary of the mail and its recipients, with warnings. */
function Checks({ campaign, audience: { data, error } }: Parts) {
  const { fromName, fromEmail, replyTo, subjectLine, template } = campaign;
  return (
    <section class="card">
      <h2>What will happen</h2>
      <ul class="checks">
        <Check tone={data === null ? (error === null ? "plain" : "bad") : data.subscribed === 0 ? "bad" : "good"} name="Audience">
          {describeAudience(campaign, listNamedGroups(campaign))}
          <br />
          {data === null
            ? error === null
              ? "Counting…"
              : error.message
            : `${plural(data.subscribed, "person gets", "people get")} it${describeOthers(data)}`}
        </Check>
        <Check tone="good" name="Sender">
          {fromName === null ? fromEmail : `${fromName} <${fromEmail}>`}
          {replyTo === null ? "" : `, replies go to ${formatReplyTo(replyTo)}`}
        </Check>
        <Check tone="good" name="Subject">
          <Subject text={subjectLine} />
          {describeTest(campaign).map((line) => (
            <span key={line} class="line">
              <Subject text={line} />
            </span>
          ))}
        </Check>
        <Content campaign={campaign} />
        {template === null ? null : (
          <Check tone={template.version === null ? "bad" : "good"} name="Template">
            {template.name}, {template.version === null ? "which is not published" : `version ${template.version}`}
          </Check>
        )}
        <Check tone="good" name="Pace">
          {describePace(campaign, data?.subscribed ?? 0)}
        </Check>
        <Check tone="plain" name="Tracking">
          {describeTracking(campaign)}
        </Check>
      </ul>
    </section>
  );
}

function Content({ campaign: { id, html, text, templateId, updatedAt } }: { readonly campaign: CampaignDetail }) {
  const isEmpty = html === null && text === null && templateId === null;
  const preview = useResource(async (signal) => (isEmpty ? null : api.campaigns.preview(id, {}, { signal })), [id, updatedAt]);
  if (isEmpty)
    return (
      <Check tone="bad" name="Content">
        It has no content yet.
      </Check>
    );
  if (preview.data === null)
    return (
      <Check tone={preview.error === null ? "plain" : "warn"} name="Content">
        {preview.error?.message ?? "Checking…"}
      </Check>
    );
  return may("templates:read") ? <LintCheck {...preview.data} /> : null;
}

function LintCheck(mail: { readonly subject: string; readonly html: string | null; readonly text: string | null }) {
  const { data } = useLint(mail);
  // Its line is there from the start, so that the button below does not move under a finger.
  if (data === null)
    return (
      <Check tone="plain" name="Content">
        Checking…
      </Check>
    );
  const { errors, warnings } = data;
  const found = [...(errors > 0 ? [plural(errors, "error")] : []), ...(warnings > 0 ? [plural(warnings, "warning")] : [])].join(" and ");
  return (
    <Check tone={errors > 0 ? "bad" : warnings > 0 ? "warn" : "good"} name="Content">
      {found === "" ? "No problems found in its content." : `${found} found: see Problems in the preview.`}
    </Check>
  );
}

function Check({ tone, name, children }: { readonly tone: string; readonly name: string; readonly children: ComponentChildren }) {
  return (
    <li class={tone}>
      <strong>{name}</strong>
      <div>{children}</div>
    </li>
  );
}

function Send({
  campaign,
  audience,
  faults,
  reload,
}: {
  readonly campaign: CampaignDetail;
  readonly audience: CampaignAudience | null;
  readonly faults: readonly string[];
  readonly reload: () => void;
}) {
  const { id, abTest, template } = campaign;
  const [when, choose] = useState(() => readWhen(campaign));
  const sending = useSending();
  const { busy, error } = sending;
  const fault = findFault(when);
  const start = fault === null ? findStart(when) : null;
  const act = () =>
    sending.send(async () => {
      // Publishing a template does not change the campaigns that use it.
      if (template !== null) assertCurrent(template.version, (await api.campaigns.get(id)).template?.version, reload);
      await startShown(async () => {
        const { revision } = await setLocalTime(campaign, when);
        if (start === null) await api.campaigns.send(id, { revision });
        else await api.campaigns.schedule(id, { scheduledAt: new Date(start).toISOString(), revision });
      }, reload);
      toast(start === null ? "Sending has started" : "Scheduled");
      go(`/campaigns/${id}`);
    });
  const people = audience === null ? "" : ` to ${plural(audience.subscribed, "person", "people")}`;
  const localFault =
    abTest !== null && abTest.samplePercent < 100 ? "With a winner to wait for, all readers get it at the same time." : null;
  return (
    <section class="card form" aria-labelledby="when">
      <h2 id="when">When</h2>
      <WhenFields when={when} choose={choose} localFault={localFault} />
      {faults.length === 0 ? null : (
        <ul class="faults" role="alert">
          {faults.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      )}
      {error === null ? null : <ErrorNote error={error} />}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={busy || faults.length > 0 || fault !== null || audience === null}
          onClick={() => void act()}
        >
          {start === null ? `Send${people}` : "Schedule"}
        </button>
        <span class="soft">
          {start === null
            ? when.kind === "local"
              ? "The audience is counted at once."
              : "It starts at once. You can pause or cancel it, but not take back what was sent."
            : `${when.kind === "local" ? `Sending${people} starts` : `It is sent${people}`} on ${formatInstant(start, when.timeZone)}. The audience is counted again then.`}
        </span>
      </div>
    </section>
  );
}
