import { contract, type MailsvcContract } from "@mailsvc/sdk/contract";
import { auditHandlers } from "./audit/handlers.ts";
import { CLEAR_ENTRIES_JOB, clearEntries } from "./automations/clear.ts";
import { DATES_JOB, enterByDate } from "./automations/dates.ts";
import { RUN_JOB } from "./automations/due.ts";
import { automationHandlers, trackHandlers } from "./automations/handlers.ts";
import { automationsReader, foreseeEntries } from "./automations/listener.ts";
import { withdrawAutomationMail } from "./automations/mail.ts";
import { listAutomationsOfTemplate } from "./automations/references.ts";
import { runDueEntries } from "./automations/run.ts";
import { listCampaignsOfTemplate } from "./campaigns/campaigns.ts";
import { CANCEL_JOB, cancelRecipients, pauseCampaigns } from "./campaigns/control.ts";
import { finishCampaign } from "./campaigns/finish.ts";
import { FINISH_JOB } from "./campaigns/finish-job.ts";
import { campaignHandlers } from "./campaigns/handlers.ts";
import { campaignsReader, countSkipped } from "./campaigns/listeners.ts";
import { releaseResumed } from "./campaigns/release.ts";
import { renderAgain, renderRecipients, renderSubjects } from "./campaigns/render.ts";
import { continueSending } from "./campaigns/sending.ts";
import { SEND_JOB, START_JOB, startScheduled } from "./campaigns/start.ts";
import { addViewLinks, viewPages } from "./campaigns/view.ts";
import { applySuppressions } from "./contacts/contacts.ts";
import { FOLD_JOB, foldCounts } from "./contacts/counters.ts";
import { contactHandlers } from "./contacts/handlers.ts";
import { EXPIRE_JOB, expireImport, UNDO_JOB, undoInBackground } from "./contacts/undo.ts";
import { favicon, findRequested, LINK_REQUEST_JOB, MEMBER_MAIL_JOB, mailMember } from "./dashboard/dashboard.ts";
import { dashboardHandlers, memberHandlers } from "./dashboard/handlers.ts";
import { dataSubjectHandlers } from "./data-subjects/data-subjects.ts";
import { forgetContact } from "./data-subjects/walk.ts";
import { Dispatch } from "./delivery/dispatch.ts";
import { RELEASE_JOB, releaseEmails } from "./delivery/holds.ts";
import { REACT_JOB, reactToEmail } from "./delivery/react.ts";
import { REQUEUE_JOB, requeueEmails } from "./delivery/requeue.ts";
import { addTextParts } from "./delivery/text-part.ts";
import type { Deps, Hooks } from "./deps.ts";
import { clockHandlers, faultHandlers, worldHandlers } from "./dev/handlers.ts";
import type { DevWorld } from "./dev/world.ts";
import { loadDeveloperEndpoint } from "./developer-webhooks/endpoint.ts";
import { webhookHandlers } from "./developer-webhooks/handlers.ts";
import { ALERT_JOB, alertOwner, CLEAR_JOB as CLEAR_JOB_OF_WEBHOOKS, clearDeliveries } from "./developer-webhooks/jobs.ts";
import { REDELIVER_JOB, redeliverEvents } from "./developer-webhooks/redelivery.ts";
import { attachmentPage, listDialects } from "./dialects/dialects.ts";
import { domainHandlers } from "./domains/domains.ts";
import { DELIVER_JOB } from "./emails/emails.ts";
import { emailHandlers, mailStateHandlers, templateSendHandlers } from "./emails/handlers.ts";
import type { EventReader } from "./events/events.ts";
import { eventHandlers } from "./events/handlers.ts";
import { REBUILD_READER_JOB, readerHandlers, rebuildReader } from "./events/rebuild.ts";
import { explanationHandlers } from "./explain/handlers.ts";
import { healthHandlers } from "./health/handlers.ts";
import type { KeyLookup } from "./http/auth.ts";
import type { ChangeRecorder } from "./http/change-recorder.ts";
import { ContractCalls } from "./http/contract-calls.ts";
import type { DialectLoaders } from "./http/dialect.ts";
import type { Handlers } from "./http/handler.ts";
import { deleteOldAnswers } from "./http/idempotency.ts";
import type { WorkspaceLookup } from "./http/operator-rights.ts";
import { partAnswers } from "./http/part-answers.ts";
import type { PublicPage } from "./http/public/public-pages.ts";
import { inboundHandlers, providerHandlers } from "./inbound/handlers.ts";
import { answerSimulated, setBounceAddresses, softBouncesReader } from "./inbound/inbound.ts";
import type { Arrivals } from "./inbox/arrivals.ts";
import { inboxHandlers, testInboxHandlers } from "./inbox/handlers.ts";
import { CLEAR_TEST_MAIL_JOB, deleteOldTestMail } from "./inbox/inbox.ts";
import { jobHandlers, queueHandlers } from "./jobs/jobs.ts";
import { keyHandlers } from "./keys/keys.ts";
import { isDeveloperKind, parseKeyKind } from "./keys/secret.ts";
import { ApiError } from "./lib/api-error.ts";
import { withinTime } from "./lib/clock.ts";
import type { Limiter } from "./lib/rate.ts";
import { SECOND } from "./lib/units.ts";
import { lintHandlers } from "./lint/handlers.ts";
import { CLEAR_JOB, clearList, listHandlers, listListsOfContact, sendConfirmations, subscriberLists } from "./lists/lists.ts";
import { CONFIRMATION_JOB, foreseeJoins, joinList, leaveList, voidInvitations } from "./lists/members.ts";
import { MAIL_SOURCES } from "./mail-sources.ts";
import { admitAgent, agentKeyExists } from "./marketplace/activations/agent-keys.ts";
import type { ActivationHooks } from "./marketplace/activations/lifecycle.ts";
import { scheduleListingEnd } from "./marketplace/activations/listing-end.ts";
import {
  emitActivated,
  emitDeactivated,
  emitPaused,
  emitResumed,
  emitScopesChanged,
  emitSettingsChanged,
} from "./marketplace/agent-webhooks/activation-events.ts";
import { loadAgentEndpoint } from "./marketplace/agent-webhooks/endpoint.ts";
import { publicFiles } from "./marketplace/files/serve.ts";
import { agentHandlers, callbackHandlers, marketplaceHandlers } from "./marketplace/handlers.ts";
import { formHandlers } from "./marketplace/landing-pages/forms.ts";
import { publicLandingPages } from "./marketplace/landing-pages/serve.ts";
import { marketplaceJobs } from "./marketplace/marketplace.ts";
import { closeApprovals, endHeldWaits } from "./marketplace/messages/approvals.ts";
import { endPayments, findWorkspaceOfPayment } from "./marketplace/payments/payments.ts";
import { returnPages } from "./marketplace/payments/return-page.ts";
import { cancelRuns } from "./marketplace/runs/sweep.ts";
import { fireHeldWakeups, skipWakeups } from "./marketplace/wakeups/fire.ts";
import { metricsHandlers } from "./metrics/handlers.ts";
import { metricsReader, RECEIVERS_JOB } from "./metrics/metrics.ts";
import { rebuildMetrics } from "./metrics/rebuild.ts";
import { learnReceivers } from "./metrics/receivers-job.ts";
import { connectProposals } from "./proposals.ts";
import type { JobHandler, JobHandlers } from "./queue/queue.ts";
import { CHECK_INBOUND_JOB, checkedInboundDomains, checkInboundDomain, RECHECK_INBOUND_JOB } from "./received/domains.ts";
import { inboundDomainHandlers, receivedHandlers } from "./received/handlers.ts";
import { relayHandlers } from "./relays/admin.ts";
import { requestHandlers } from "./requests/handlers.ts";
import { retentionJobs } from "./retention/retention.ts";
import { segmentHandlers } from "./segments/handlers.ts";
import { clearSegment, rebuildSegment } from "./segments/jobs.ts";
import { listSelectedContacts } from "./segments/query.ts";
import { rebuildEngagement } from "./segments/rebuild.ts";
import {
  CLEAR_SEGMENT_JOB,
  engagementReader,
  foreseeEntered,
  listSegmentsOfContact,
  REBUILD_JOB,
  syncMembership,
} from "./segments/segments.ts";
import { senderHandlers } from "./senders/handlers.ts";
import { checkSender, sendConfirmation } from "./senders/jobs.ts";
import { CHECK_JOB, CONFIRM_JOB, checkedSenders, findWorkspaceOfSender, RECHECK_JOB, recheckDomains } from "./senders/senders.ts";
import { suppressionHandlers } from "./suppressions/handlers.ts";
import { eraseTargetsOf, PERSON_DATA, RETENTION, WORKSPACE_DATA } from "./table-data/table-data.ts";
import { templateHandlers } from "./templates/handlers.ts";
import { REQUESTS_JOB, recordHeldRequests, trackingPages, trackMails } from "./tracking/tracking.ts";
import { addUnsubscribe, unsubscribePages } from "./unsubscribe/unsubscribe.ts";
import type { LoadEndpoint } from "./webhooks/webhooks.ts";
import { CLEAR_WORKSPACE_JOB, clearWorkspace } from "./workspaces/deletion.ts";
import { meHandlers, workspaceHandlers } from "./workspaces/handlers.ts";
import { hasWorkspace, listWorkspaceIds } from "./workspaces/workspaces.ts";

// Clients and proxies give up after a minute, and then nobody learns the reason.
const SETTLE_MS = 20 * SECOND;

/**
 * Handlers that read, prepare or, for the verbs of `writes`, write by what follows from events: they wait until everything that happened
 * before has been followed up.
 */
function settled<Group extends object>(
  noun: Readonly<Record<string, { readonly method: string }>>,
  group: Group,
  writes: readonly (keyof Group)[] = [],
): Group {
  const settle = async ({ deps, workspaceId }: OfWorkspace): Promise<void> => {
    const settled = deps.eventStream.settle(workspaceId).then(() => true);
    if (await withinTime(deps.clock.real, SETTLE_MS, settled, false)) return;
    throw new ApiError("storage_unavailable", "The server is still working through earlier events of this workspace.", {
      hint: "After a restore or a rebuild this can take minutes. Retry after the time in Retry-After.",
      headers: { "retry-after": "10" },
    });
  };
  const wrap = (verb: string, handler: AnyHandler): AnyHandler => {
    if (typeof handler !== "function")
      return { ...handler, prepare: (input, context) => settle(context).then(() => handler.prepare(input, context)) };
    // Inside the transaction of a dialect nothing else may be awaited.
    if (noun[verb]?.method === "GET")
      return (input, context) => ("tx" in context ? handler(input, context) : settle(context).then(() => handler(input, context)));
    return writes.includes(verb as keyof Group) ? { prepare: (_input, context) => settle(context), run: handler } : handler;
  };
  const wrapped = Object.entries(group as Record<string, AnyHandler>).map(([verb, handler]) => [verb, wrap(verb, handler)]);
  return Object.fromEntries(wrapped) as Group;
}

interface OfWorkspace {
  readonly deps: Pick<Deps, "clock" | "eventStream">;
  readonly workspaceId: string;
}

type Run = (input: unknown, context: OfWorkspace, prepared?: unknown) => Promise<unknown>;
type AnyHandler = Run | { readonly prepare: Run; readonly run: Run };

/** A job that decides by what follows from events of its workspace. */
function settledJob({ eventStream }: Pick<Deps, "eventStream">, handler: JobHandler): JobHandler {
  return async (job) => {
    await eventStream.settle(String(job.payload.workspaceId));
    return handler(job);
  };
}

/** Looks up the key of a request: developer keys in a cache, agents' keys in their activations. */
export function createKeyLookup(deps: Pick<Deps, "db" | "keyCache" | "keyWatch" | "keyUse" | "clock">): KeyLookup {
  const { db, keyCache, keyWatch, keyUse, clock } = deps;
  return {
    now: () => clock.now(),
    noteUse: (id) => keyUse.note(id),
    parseKind: (key) => {
      const kind = parseKeyKind(key);
      return kind !== null && isDeveloperKind(kind) ? "developer" : kind === "op" ? "operator" : kind;
    },
    hash: (key) => keyCache.hash(key),
    getCached: (hash) => keyCache.get(hash),
    findDeveloperKey: (hash) => keyCache.load(hash),
    watchKey: (hash, until) => keyWatch.watch(hash, until),
    isOperatorKey: (hash) => keyCache.isOperator(hash),
    admitAgent: (q, hash) => admitAgent(q, hash, clock.now()),
    agentKeyExists: (hash) => agentKeyExists(db.read, hash),
  };
}

/** The workspaces that decisions of the operator concern. In dev mode nothing is decided for anybody. */
export function createWorkspaceLookup({ db, config }: Pick<Deps, "db" | "config">): WorkspaceLookup {
  return {
    listWorkspaces: (limit) => listWorkspaceIds(db.read, config.dev ? 1 : limit),
    findWorkspaceOf: async (id) => {
      if (id.startsWith("ws_")) return (await hasWorkspace(db.read, id)) ? id : null;
      return id.startsWith("pay_") ? findWorkspaceOfPayment(db.read, id) : findWorkspaceOfSender(db.read, id);
    },
  };
}

/** The nouns that exist in dev mode only. */
type DevNoun = "inbox" | "clock" | "world" | "faults";

type HandlersOf<Noun extends keyof MailsvcContract> = { readonly [G in Noun]: Handlers<MailsvcContract[G], Deps> };

/** Connects the reactions of modules to changes in the modules below them. `deps` is known once the product is put together. */
export function connectHooks(deps: () => Deps): Hooks {
  return {
    contactHooks: {
      contactsChanged: (tx, workspaceId, contactSeqs, startsNothing) => syncMembership(tx, deps(), workspaceId, contactSeqs, startsNothing),
      foreseeStarts: async (tx, workspaceId, events, contacts) =>
        foreseeEntries(tx, deps(), workspaceId, [...events, ...(await foreseeEntered(tx, deps(), workspaceId, contacts))]),
      addressesChanged: (tx, contacts) => voidInvitations(tx, contacts),
      joinList: (tx, workspaceId, listId, contacts, startsNothing) => joinList(tx, deps(), workspaceId, listId, contacts, startsNothing),
      foreseeJoins: (tx, workspaceId, listId, contacts) => foreseeJoins(tx, deps(), workspaceId, listId, contacts),
      leaveList: (tx, workspaceId, listId, contacts) => leaveList(tx, deps(), workspaceId, listId, contacts),
      forgetContact: (tx, contact) => forgetContact(tx, PERSON_DATA, deps(), contact),
      listMemberships: async (q, contact) => ({
        lists: await listListsOfContact(q, contact.seq),
        segments: await listSegmentsOfContact(q, contact, deps().clock.now()),
      }),
      listSelected: (read, workspaceId, selection, slice) => listSelectedContacts(read, deps(), workspaceId, selection, slice),
    },
    suppressionHooks: {
      addressesSuppressed: (tx, workspaceId, addresses, source) => applySuppressions(tx, deps(), workspaceId, addresses, source),
    },
    templateHooks: {
      listSenders: async (q, template) => ({
        campaigns: await listCampaignsOfTemplate(q, template),
        automations: await listAutomationsOfTemplate(q, template),
      }),
    },
    partAnswers,
    renderHooks: {
      renderSubjects: (read, emails) => renderSubjects(read, deps(), emails),
      renderMail: async (read, email) => (await renderAgain(read, deps(), email))?.mail ?? null,
    },
    // Transforms of emails before they are handed over, in this order.
    mailTransforms: [
      (read, mails) => renderRecipients(read, deps(), mails),
      withdrawAutomationMail,
      (_read, mails) => addTextParts(mails),
      (_read, mails) => trackMails(deps(), mails),
      (read, mails) => addUnsubscribe(read, deps(), mails),
      (_read, mails) => addViewLinks(deps(), mails),
      (read, mails) => setBounceAddresses(read, deps(), mails),
    ],
    deliveryHooks: {
      putBack: (tx, emails) => releaseResumed(tx, deps(), emails),
      skipped: (tx, emails) => countSkipped(tx, deps(), emails),
      answered: (mail) => answerSimulated(deps(), mail),
      erased: (tx, emails) => eraseTargetsOf(tx, deps(), emails),
    },
    // The end of a listing ends its payments and its activations.
    listingHooks: {
      ended: async (tx, listing) => {
        await endPayments(tx, deps(), listing);
        await scheduleListingEnd(tx, deps(), listing);
      },
    },
    activationHooks: connectActivations(deps),
    rateHooks: { pauseCampaigns: (tx, workspaceId, reason) => pauseCampaigns(tx, deps(), workspaceId, reason) },
    proposalHooks: connectProposals(deps),
  };
}

/** Connects the state of an activation with its events, runs, approvals and wakeups. agent.deactivated is its last event. */
function connectActivations(deps: () => Deps): ActivationHooks {
  return {
    activated: (tx, activation, given) => emitActivated(tx, deps(), activation, given),
    settingsChanged: (tx, activationId, settings, at) => emitSettingsChanged(tx, deps(), activationId, settings, at),
    paused: (tx, activationId, reason, at) => emitPaused(tx, deps(), activationId, reason, at),
    scopesChanged: (tx, activationId, change) => emitScopesChanged(tx, deps(), activationId, change),
    pauseCleared: async (tx, activationId, change) => {
      await emitResumed(tx, deps(), activationId, change);
      if (!change.resumed) return;
      await endHeldWaits(tx, deps(), activationId);
      await fireHeldWakeups(tx, deps(), activationId);
    },
    ended: async (tx, activationIds, reason, at) => {
      await cancelRuns(tx, deps(), activationIds, at);
      await closeApprovals(tx, activationIds, at);
      await skipWakeups(tx, activationIds);
      await emitDeactivated(tx, deps(), activationIds, reason, at);
    },
  };
}

/** The readers of events, in the order in which they read. */
export function eventReaders(deps: () => Deps): readonly EventReader[] {
  return [engagementReader(deps), campaignsReader(deps), automationsReader(deps), softBouncesReader(deps), metricsReader(deps)];
}

/** Loads the endpoint of events. Its key is the id of a listing, or of a developer's webhook. */
export function endpointLoader(deps: () => Deps): LoadEndpoint {
  return (tx, id) => (id.startsWith("lst_") ? loadAgentEndpoint(tx, deps(), id) : loadDeveloperEndpoint(tx, deps(), id));
}

const { list, get, export: exportAll } = contactHandlers;

/** All handlers. A missing one does not compile. */
const handlers: HandlersOf<Exclude<keyof MailsvcContract, DevNoun | "testInbox">> = {
  emails: emailHandlers,
  mailStates: mailStateHandlers,
  received: receivedHandlers,
  inboundDomains: inboundDomainHandlers,
  templates: { ...templateHandlers, ...templateSendHandlers },
  senders: senderHandlers,
  domains: domainHandlers,
  suppressions: settled(contract.suppressions, suppressionHandlers),
  providers: providerHandlers,
  contacts: { ...contactHandlers, ...settled(contract.contacts, { list, get, export: exportAll }) },
  people: settled(contract.people, dataSubjectHandlers(PERSON_DATA), ["erase"]),
  lists: listHandlers,
  forms: formHandlers,
  segments: settled(contract.segments, segmentHandlers),
  events: { ...eventHandlers, ...trackHandlers },
  requests: requestHandlers,
  metrics: settled(contract.metrics, metricsHandlers),
  webhooks: webhookHandlers,
  explanations: settled(
    contract.explanations,
    explanationHandlers(async () => (await import("./explainers.ts")).EXPLAINERS),
  ),
  lint: lintHandlers(MAIL_SOURCES),
  campaigns: settled(contract.campaigns, campaignHandlers, ["resend", "winner"]),
  automations: settled(contract.automations, automationHandlers, ["update", "delete", "activate", "pause"]),
  keys: keyHandlers,
  audit: auditHandlers,
  members: memberHandlers,
  dashboard: dashboardHandlers,
  workspaces: workspaceHandlers(WORKSPACE_DATA),
  jobs: jobHandlers,
  queue: queueHandlers,
  readers: readerHandlers,
  relays: relayHandlers,
  ...marketplaceHandlers,
  me: meHandlers,
  health: healthHandlers,
};

/** The handlers of everything that is served, by the nouns of `served`, except dev mode. */
export function servedHandlers(arrivals: Arrivals): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return {
    ...handlers,
    testInbox: testInboxHandlers(arrivals),
    ...Object.fromEntries(Object.entries(agentHandlers).map(([noun, verbs]) => [`agent.${noun}`, verbs])),
    ...callbackHandlers,
    inbound: inboundHandlers,
  };
}

/**
 * The APIs of other services. Their operations call those of the contract; `devKey` stands for any key of the other service in dev mode.
 */
export function servedDialects(deps: Deps, changes: ChangeRecorder, devKey: string | null): DialectLoaders {
  return listDialects(deps, new ContractCalls(contract, handlers, changes), devKey);
}

/** The handlers of dev mode. */
export function devHandlers(world: DevWorld, arrivals: Arrivals): HandlersOf<DevNoun> {
  return {
    inbox: inboxHandlers(arrivals),
    clock: clockHandlers(world),
    world: worldHandlers(world),
    faults: faultHandlers(world),
  };
}

/** The public pages, which are served besides the contract. */
export function publicPages(deps: Deps, limiter: Limiter): readonly PublicPage[] {
  return [
    ...publicLandingPages(deps, limiter),
    ...unsubscribePages(deps, subscriberLists(deps)),
    ...viewPages(deps),
    ...trackingPages(deps),
    favicon,
    ...publicFiles(deps),
    ...returnPages,
    attachmentPage(deps),
  ];
}

/** All jobs. */
export function jobsOf(deps: Deps): JobHandlers {
  return {
    [DELIVER_JOB]: new Dispatch(deps),
    [REACT_JOB]: reactToEmail(deps),
    [RELEASE_JOB]: releaseEmails(deps),
    [REQUEUE_JOB]: requeueEmails(deps),
    [CHECK_JOB]: checkSender(deps),
    [CHECK_INBOUND_JOB]: checkInboundDomain(deps),
    [REBUILD_READER_JOB]: rebuildReader(deps, {
      metrics: rebuildMetrics,
      engagement: (tx, workspaceId, part) => rebuildEngagement(tx, deps, workspaceId, part),
    }),
    [RECEIVERS_JOB]: learnReceivers(deps),
    [RECHECK_JOB]: recheckDomains(deps, checkedSenders(deps)),
    [RECHECK_INBOUND_JOB]: recheckDomains(deps, checkedInboundDomains(deps)),
    [CONFIRM_JOB]: sendConfirmation(deps),
    [MEMBER_MAIL_JOB]: mailMember(deps),
    [LINK_REQUEST_JOB]: findRequested(deps),
    [FOLD_JOB]: foldCounts(deps),
    [UNDO_JOB]: undoInBackground(deps),
    [EXPIRE_JOB]: expireImport(deps),
    [CONFIRMATION_JOB]: sendConfirmations(deps),
    [CLEAR_JOB]: clearList(deps),
    [REBUILD_JOB]: rebuildSegment(deps),
    [CLEAR_SEGMENT_JOB]: clearSegment(deps),
    [REQUESTS_JOB]: recordHeldRequests(deps),
    [START_JOB]: settledJob(deps, startScheduled(deps)),
    [SEND_JOB]: continueSending(deps),
    [FINISH_JOB]: finishCampaign(deps),
    [CANCEL_JOB]: cancelRecipients(deps),
    [RUN_JOB]: settledJob(deps, runDueEntries(deps)),
    [DATES_JOB]: enterByDate(deps),
    [CLEAR_ENTRIES_JOB]: clearEntries(deps),
    [CLEAR_JOB_OF_WEBHOOKS]: clearDeliveries(deps),
    [ALERT_JOB]: alertOwner(deps),
    [REDELIVER_JOB]: redeliverEvents(deps),
    [CLEANUP_JOB]: deleteOldAnswers(deps),
    [CLEAR_WORKSPACE_JOB]: clearWorkspace(deps, WORKSPACE_DATA),
    [CLEAR_TEST_MAIL_JOB]: deleteOldTestMail(deps),
    ...marketplaceJobs(deps),
    ...retentionJobs(deps, RETENTION),
  };
}

/** The job that deletes old answers; one of it always waits. */
export const CLEANUP_JOB = "idempotency.forget";
