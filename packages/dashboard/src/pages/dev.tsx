/** @jsxImportSource preact */
import type { ClockState } from "@mailsvc/sdk/contract";
import { labelTimer } from "@mailsvc/sdk/contract/timer-labels";
import { api } from "../api/client.ts";
import { session } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Faults } from "../parts/faults.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useRegularly, useResource } from "../parts/resource.ts";
import { learnTime, Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";

const TICK_MS = 1000;
const STEPS = ["1m", "15m", "1h", "1d", "7d"];

/** The clock, faults and snapshots of dev mode. */
export default function Dev() {
  return (
    <Page
      title="Clock and faults"
      about={
        session.value?.mailer === "smtp"
          ? "Mail leaves through SMTP; only simulated recipients end here."
          : "Mail is captured here. Nothing leaves this machine."
      }
      actions={<Reset />}
    >
      <div class="scroll">
        <Clock />
        <Faults />
        <Snapshots />
      </div>
    </Page>
  );
}

function Reset() {
  const act = async (): Promise<void> => {
    await api.world.reset();
    toast("Everything is as at the first start");
  };
  return (
    <ConfirmButton label="Reset" question="Delete everything?" danger act={act}>
      <p>All mail, contacts, campaigns and webhooks are deleted. The seeded workspaces and their keys stay.</p>
    </ConfirmButton>
  );
}

function Clock() {
  const clock = useResource(async (signal) => {
    const state = await api.clock.show({ signal });
    learnTime(state.now);
    return state;
  }, []);
  useRegularly(clock.reload, TICK_MS);
  return (
    <section class="card">
      <h2>Clock</h2>
      <Loaded from={clock}>{(state) => <ClockControls state={state} changed={clock.reload} />}</Loaded>
    </section>
  );
}

function ClockControls({ state: { now, mode, next, timers }, changed }: { readonly state: ClockState; readonly changed: () => void }) {
  const move = (change: () => Promise<ClockState>) => async (): Promise<void> => {
    const { fired } = await change();
    const counts = Map.groupBy(fired, ({ name }) => labelTimer(name));
    const text = [...counts].map(([name, all]) => (all.length > 1 ? `${name} × ${all.length}` : name)).join(", ");
    toast(text === "" ? "No timer was due" : text);
    changed();
  };
  const turn = (change: () => Promise<ClockState>) => async (): Promise<void> => {
    await change();
    changed();
  };
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Time", <Time key="now" at={now} exactly />],
          ["State", mode],
          [
            "Next",
            next === null ? (
              "no timer waits"
            ) : (
              <>
                {labelTimer(next.name)}, <Time at={next.at} exactly />
              </>
            ),
          ],
          ["Timers", timers],
        ]}
      />
      <div class="buttons">
        {mode === "frozen" ? (
          <ActionButton label="Let it run" act={turn(() => api.clock.thaw())} />
        ) : (
          <ActionButton label="Freeze" act={turn(() => api.clock.freeze({}))} />
        )}
        {STEPS.map((by) => (
          <ActionButton key={by} label={`+${by}`} act={move(() => api.clock.advance({ by }))} />
        ))}
        <ActionButton label="Next timer" disabled={next === null} act={move(() => api.clock.next())} />
      </div>
    </div>
  );
}

function Snapshots() {
  const snapshots = useResource((signal) => api.world.snapshots({ signal }), []);
  const take = async (values: FormValues): Promise<void> => {
    await api.world.snapshot({ name: values.text("name") });
    snapshots.reload();
  };
  const restore = (name: string) => async (): Promise<void> => {
    await api.world.restore({ name });
    toast(`Back at ${name}`);
  };
  return (
    <section class="card">
      <div class="what">
        <h2>Snapshots</h2>
        <FormButton label="Take a snapshot" title="Save the state of the server" submit="Save" act={take}>
          <Field label="Name">
            <input name="name" required pattern="[A-Za-z0-9_\-]{1,64}" placeholder="before" spellcheck={false} />
          </Field>
        </FormButton>
      </div>
      <Loaded from={snapshots}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">No snapshots yet.</p>
          ) : (
            <ul class="items">
              {data.map(({ name, takenAt }) => (
                <li key={name}>
                  <div class="what">
                    <span>
                      <strong>{name}</strong>{" "}
                      <span class="soft">
                        <Time at={takenAt} exactly />
                      </span>
                    </span>
                    <ConfirmButton label="Restore" question={`Go back to ${name}?`} danger act={restore(name)}>
                      <p>What has happened since is lost.</p>
                    </ConfirmButton>
                  </div>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
