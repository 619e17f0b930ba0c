/** @jsxImportSource preact */
import type { Plan } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { count, formatCount } from "../parts/plural.ts";
import { Progress } from "../parts/progress.tsx";
import { type Resource, useResource } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { toHref } from "../router.tsx";

/** The plan of the workspace, what it covers, and how much of that is used. */
export default function PlanPage() {
  const plan = useResource((signal) => api.plans.get({ signal }), []);
  return (
    <Page title="Plan" about="How many agents may work for this workspace. Mail, contacts and campaigns have no limit.">
      <div class="scroll">
        <Loaded from={plan}>{(data) => <Usage plan={data} />}</Loaded>
        <Loaded from={plan}>{(data) => <Plans current={data} changed={plan} />}</Loaded>
      </div>
    </Page>
  );
}

function namePlan(plan: Plan["plan"]): string {
  return plan === "none" ? "No plan" : plan.charAt(0).toUpperCase() + plan.slice(1);
}

function Usage({ plan: { plan, covers, used, changedAt } }: { readonly plan: Plan }) {
  const credits = useResource((signal) => api.credits.get({ signal }), []);
  const over = covers !== null && used > covers;
  return (
    <section class={`card summary ${over ? "warn" : "good"}`}>
      <h2>
        {used === 0
          ? "No agent is turned on"
          : covers === null
            ? `${count(used, "agent is", "agents are")} turned on`
            : `${formatCount(used)} of ${count(covers, "agent")} turned on`}
      </h2>
      {covers === null || covers === 0 ? null : (
        <Progress label="Agents of the plan" value={Math.min(1, used / covers)} text={`${formatCount(used)} of ${formatCount(covers)}`} />
      )}
      {over ? <p>Agents beyond the plan are paused. Choose a larger plan, or turn agents off.</p> : null}
      <Facts
        facts={[
          ["Plan", namePlan(plan)],
          ["Covers", covers === null ? "any number of agents" : count(covers, "agent")],
          ["Since", changedAt && <Time key="since" at={changedAt} exactly />],
          [
            "Agents",
            used > 0 ? null : (
              <a key="catalog" href={toHref("/catalog")}>
                Browse the catalog
              </a>
            ),
          ],
          [
            "Credits",
            credits.data && (
              <a key="credits" href={toHref("/credits")}>
                {count(credits.data.balance, "credit")} left
              </a>
            ),
          ],
        ]}
      />
    </section>
  );
}

function Plans({ current, changed }: { readonly current: Plan; readonly changed: Resource<Plan> }) {
  const plans = useResource(async (signal) => (await api.plans.list({ signal })).data, []);
  return (
    <section class="card">
      <h2>Plans</h2>
      <Loaded from={plans}>
        {(all) => (
          <ul class="items">
            {all.map(({ plan, summary }) => (
              <li key={plan}>
                <div class="what">
                  <span>
                    <strong>{namePlan(plan)}</strong> {plan === current.plan ? <Status status="active" text="your plan" /> : null}
                    <p class="soft">{summary}</p>
                  </span>
                  {plan !== current.plan && may("billing:write") ? <ChangeButton to={plan} done={changed.reload} /> : null}
                </div>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function ChangeButton({ to, done }: { readonly to: Plan["plan"]; readonly done: () => void }) {
  const act = async (): Promise<void> => {
    await api.plans.change({ plan: to });
    toast(`Your plan is now ${namePlan(to)}`);
    done();
  };
  return (
    <ConfirmButton
      label={to === "none" ? "End the plan" : `Choose ${namePlan(to)}`}
      question={to === "none" ? "End your plan?" : `Change to the plan ${namePlan(to)}?`}
      danger={to === "none"}
      act={act}
    >
      <Effect to={to} />
    </ConfirmButton>
  );
}

/** The agents that a change of plan pauses, resumes or turns off. */
function Effect({ to }: { readonly to: Plan["plan"] }) {
  const preview = useResource((signal) => api.plans.preview({ plan: to }, { signal }), [to]);
  return (
    <Loaded from={preview}>
      {({ paused, resumed, deactivated }) => (
        <>
          {paused.length + resumed.length + deactivated.length === 0 ? <p>No agent is paused or turned off by this.</p> : null}
          <Agents label="Paused at once, and turned off after 30 days" ids={paused} />
          <Agents label="Go on" ids={resumed} />
          <Agents label="Turned off for good" ids={deactivated} />
        </>
      )}
    </Loaded>
  );
}

function Agents({ label, ids }: { readonly label: string; readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <p>
      {label}:{" "}
      {ids.map((id, i) => (
        <span key={id}>
          {i === 0 ? "" : ", "}
          <ObjectLink id={id} />
        </span>
      ))}
    </p>
  );
}
