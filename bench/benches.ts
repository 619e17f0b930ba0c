import type { Bench } from "./figure.ts";
import { accept } from "./figures/accept.ts";
import { automations } from "./figures/automations.ts";
import { batch } from "./figures/batch.ts";
import { behaviour, behaviourOnPostgres } from "./figures/behaviour.ts";
import { binary } from "./figures/binary.ts";
import { campaigns } from "./figures/campaigns.ts";
import { cancel } from "./figures/cancel.ts";
import { cli } from "./figures/cli.ts";
import { contacts, contactsOnPostgres } from "./figures/contacts.ts";
import { dashboard } from "./figures/dashboard.ts";
import { deliveries } from "./figures/deliveries.ts";
import { drain } from "./figures/drain.ts";
import { followers } from "./figures/followers.ts";
import { fsync } from "./figures/fsync.ts";
import { lists, listsOnPostgres } from "./figures/lists.ts";
import { memory } from "./figures/memory.ts";
import { metrics, metricsOnPostgres } from "./figures/metrics.ts";
import { million } from "./figures/million.ts";
import { postgres } from "./figures/postgres.ts";
import { receiving } from "./figures/receiving.ts";
import { retention, retentionOnPostgres } from "./figures/retention.ts";
import { runs } from "./figures/runs.ts";
import { scaling } from "./figures/scaling.ts";
import { sdk } from "./figures/sdk.ts";
import { segments } from "./figures/segments.ts";
import { sizing } from "./figures/sizing.ts";
import { soak } from "./figures/soak.ts";
import { start } from "./figures/start.ts";
import { stretches } from "./figures/stretches.ts";
import { submission } from "./figures/submission.ts";
import { tail } from "./figures/tail.ts";
import { templates } from "./figures/templates.ts";
import { track } from "./figures/track.ts";
import { verify } from "./figures/verify.ts";
import { world } from "./figures/world.ts";

/** All benchmarks, in the order they are run. */
export const benches: readonly Bench[] = [
  accept,
  submission,
  batch,
  receiving,
  fsync,
  tail,
  start,
  memory,
  stretches,
  drain,
  deliveries,
  followers,
  postgres,
  scaling,
  world,
  cli,
  binary,
  contacts,
  contactsOnPostgres,
  segments,
  track,
  behaviour,
  behaviourOnPostgres,
  lists,
  listsOnPostgres,
  dashboard,
  metrics,
  metricsOnPostgres,
  retention,
  retentionOnPostgres,
  templates,
  cancel,
  runs,
  campaigns,
  million,
  automations,
  verify,
  sdk,
  sizing,
  soak,
];
