// Generated from the contract by `npm run generate`.
import type { EndpointTable } from "./endpoint-facts.ts";

/** The endpoints of `Mailsvc`. */
export const ENDPOINTS: EndpointTable = {
  emails: `
send POST send body
sendTemplate POST v1/emails/send-template body
sendBatch POST send/batch body
list GET emails query page
get GET emails/:id
cancel POST emails/:id/cancel
reschedule PATCH emails/:id body
requeue POST emails/:id/requeue body
`,
  mailStates: `
list GET mail-states query page
get GET mail-states/:id
`,
  received: `
list GET received query page
get GET received/:id
attachments GET received/:id/attachments
attachment GET received/:id/attachments/:number produces="application/octet-stream" binary
raw GET received/:id/raw produces="message/rfc822" binary
reply POST received/:id/reply body
passOn POST received/:id/pass-on body
delete DELETE received/:id
`,
  inboundDomains: `
list GET inbound-domains query page
create POST inbound-domains body
get GET inbound-domains/:id
verify POST inbound-domains/:id/verify body
delete DELETE inbound-domains/:id
`,
  templates: `
list GET templates query page
create POST templates body
get GET templates/:id query
update PATCH templates/:id body
delete DELETE templates/:id
publish POST templates/:id/publish body
versions GET templates/:id/versions query page
rollback POST templates/:id/rollback body
archive POST templates/:id/archive
unarchive POST templates/:id/unarchive
preview POST templates/:id/preview body
render POST templates/render body
test POST templates/:id/test body
listTransactional GET v1/templates query page
getBySlug GET v1/templates/:slug
send POST send/:slug body
`,
  senders: `
list GET senders query page
create POST senders body
get GET senders/:id
update PATCH senders/:id body
verify POST senders/:id/verify body
delete DELETE senders/:id
confirmPage GET /senders/confirm/:token open query produces="text/html"
confirm POST /senders/confirm/:token open query produces="text/html"
`,
  domains: `
check GET domain-check query
`,
  suppressions: `
list GET suppressions query page
create POST suppressions body
import POST suppressions/import body
remove POST suppressions/remove body
get GET suppressions/:id
delete DELETE suppressions/:id
`,
  providers: `
list GET providers query page
add POST providers body
remove DELETE providers/:id
`,
  contacts: `
startImport POST contacts/imports body
imports GET contacts/imports query page
getImport GET contacts/imports/:id
undoImport POST contacts/imports/:id/undo
list GET contacts query page
create POST contacts body
upsert POST v1/contacts body
import POST contacts/import body
export GET contacts/export query page
get GET contacts/:id
update PATCH contacts/:id body
tag POST contacts/tags body
delete DELETE contacts/:id
`,
  people: `
get GET people/:person query
erase DELETE people/:person
`,
  lists: `
list GET lists query page
create POST lists body
get GET lists/:id
update PATCH lists/:id body
delete DELETE lists/:id
contacts GET lists/:id/contacts query page
add POST lists/:id/contacts body
remove POST lists/:id/contacts/remove body
removeOne DELETE lists/:id/contacts/:contact
resend POST lists/:id/contacts/:contact/resend
confirmPage GET /lists/confirm/:token open query produces="text/html"
confirm POST /lists/confirm/:token open query produces="text/html"
`,
  forms: `
list GET forms query page
create POST forms body
get GET forms/:id
update PATCH forms/:id body
delete DELETE forms/:id
stats GET forms/:id/stats query
submissions GET forms/:id/submissions query page
`,
  segments: `
list GET segments query page
create POST segments body
preview POST segments/preview body
get GET segments/:id
update PATCH segments/:id body
delete DELETE segments/:id
contacts GET segments/:id/contacts query page
`,
  campaigns: `
list GET campaigns query page
create POST campaigns body
get GET campaigns/:id
update PATCH campaigns/:id body
delete DELETE campaigns/:id
schedule POST campaigns/:id/schedule body
audience GET campaigns/:id/audience
send POST campaigns/:id/send body
pause POST campaigns/:id/pause
resume POST campaigns/:id/resume body
cancel POST campaigns/:id/cancel
duplicate POST campaigns/:id/duplicate body
resend POST campaigns/:id/resend body
test POST campaigns/:id/test body
preview GET campaigns/:id/preview query
winner POST campaigns/:id/winner body
recipients GET campaigns/:id/recipients query page
stats GET campaigns/:id/stats query
verify GET campaigns/:id/verify
`,
  automations: `
list GET automations query page
create POST automations body
get GET automations/:id query
update PATCH automations/:id body
delete DELETE automations/:id
activate POST automations/:id/activate body
pause POST automations/:id/pause
archive POST automations/:id/archive
unarchive POST automations/:id/unarchive
versions GET automations/:id/versions query page
stats GET automations/:id/stats
test POST automations/:id/test body
entries GET automations/:id/entries query page
`,
  events: `
list GET v1/events query page
tail GET v1/events/stream query stream
get GET v1/events/:id
track POST track body
trackBatch POST track/batch body
`,
  requests: `
list GET requests query
tail GET requests/stream query stream
`,
  metrics: `
get GET metrics query
limits GET metrics/limits
setLimits PATCH metrics/limits body
verify GET metrics/verify query
`,
  webhooks: `
list GET v1/webhooks query page
create POST v1/webhooks body
get GET v1/webhooks/:id
update PATCH v1/webhooks/:id body
delete DELETE v1/webhooks/:id
pause POST v1/webhooks/:id/pause
resume POST v1/webhooks/:id/resume
rotateSecret POST v1/webhooks/:id/rotate-secret body
test POST v1/webhooks/:id/test
deliveries GET v1/webhooks/:id/deliveries query page
delivery GET v1/webhooks/:id/deliveries/:delivery
redeliver POST v1/webhooks/:id/deliveries/:delivery/redeliver
redeliverSince POST v1/webhooks/:id/redeliver body
`,
  explanations: `
get GET explain/:id query
`,
  lint: `
check POST lint body
rules GET lint/rules
`,
  testInbox: `
list GET test-inbox query page
wait GET test-inbox/wait query waitSeconds=10
get GET test-inbox/:id
raw GET test-inbox/:id/raw produces="message/rfc822"
delete DELETE test-inbox/:id
release POST test-inbox/:id/release body waitSeconds=45
clear DELETE test-inbox
`,
  keys: `
list GET keys query page
get GET keys/:id
create POST keys body
update PATCH keys/:id body
revoke DELETE keys/:id
`,
  audit: `
list GET audit query page
`,
  members: `
list GET members query page
get GET members/:member
invite POST members body
setRole PATCH members/:member body
remove DELETE members/:member
signOut DELETE members/:member/sessions
`,
  dashboard: `
link POST dashboard/links body
sessions GET dashboard/sessions query page
signOut DELETE dashboard/sessions/:id
signOutPerson DELETE dashboard/sessions/:id/person
signOutAll DELETE dashboard/sessions
`,
  workspaces: `
list GET workspaces query page
create POST workspaces body
update PATCH workspaces/:id body
export GET workspaces/:id/export query page
delete DELETE workspaces/:id
`,
  jobs: `
list GET jobs query page
retry POST jobs/:id/retry
`,
  queue: `
status GET queue
pause POST queue/pause body
resume POST queue/resume
hold POST queue/hold body
release POST queue/release body
requeue POST queue/requeue body
`,
  readers: `
list GET readers
rebuild POST readers/:name/rebuild body
`,
  relays: `
list GET relays
get GET relays/:name
add POST relays body
update PATCH relays/:name body
remove DELETE relays/:name
test POST relays/:name/test body waitSeconds=90
`,
  me: `
get GET me
checkRelays GET me/relays waitSeconds=20
`,
  health: `
live GET /healthz open
ready GET /readyz open keyOptional
openapi GET /openapi.json open
`,
  inbox: `
list GET /__dev/inbox open query page
wait GET /__dev/inbox/wait open query waitSeconds=10
get GET /__dev/inbox/:id open
html GET /__dev/inbox/:id/html open produces="text/html"
text GET /__dev/inbox/:id/text open produces="text/plain"
raw GET /__dev/inbox/:id/raw open produces="message/rfc822"
reply POST /__dev/inbox/:id/reply open body
report POST /__dev/inbox/:id/report open body
delete DELETE /__dev/inbox/:id open
release POST /__dev/inbox/:id/release open body waitSeconds=45
clear DELETE /__dev/inbox open
`,
  listings: `
list GET marketplace/listings query page
create POST marketplace/listings body
get GET marketplace/listings/:slug
update PATCH marketplace/listings/:slug body
checkout POST marketplace/listings/:slug/checkout
cancel POST marketplace/listings/:slug/cancel
rotateSecret POST marketplace/listings/:slug/webhook-secret/rotate body
activations GET marketplace/listings/:slug/activations query page
resume POST marketplace/listings/:slug/activations/:id/resume
`,
  deliveries: `
list GET marketplace/listings/:slug/deliveries query page
tail GET marketplace/listings/:slug/deliveries/stream query stream
get GET marketplace/listings/:slug/deliveries/:id
redeliver POST marketplace/listings/:slug/deliveries/:id/redeliver
recover POST marketplace/listings/:slug/deliveries/recover body
test POST marketplace/listings/:slug/test-webhook
`,
  payments: `
list GET marketplace/payments query page
get GET marketplace/payments/:id
confirm POST marketplace/payments/:id/confirm
`,
  catalog: `
list GET marketplace/catalog query page
get GET marketplace/catalog/:slug
`,
  activations: `
list GET marketplace/activations query page
create POST marketplace/activations body
get GET marketplace/activations/:id
update PATCH marketplace/activations/:id body
accept POST marketplace/activations/:id/accept body
keep POST marketplace/activations/:id/keep body
pause POST marketplace/activations/:id/pause
resume POST marketplace/activations/:id/resume
deactivate POST marketplace/activations/:id/deactivate
`,
  approvals: `
list GET marketplace/approvals query page
get GET marketplace/approvals/:id
`,
  messages: `
inbox GET marketplace/messages query page
list GET marketplace/activations/:id/messages query page
create POST marketplace/activations/:id/messages body
get GET marketplace/messages/:id
answer POST marketplace/messages/:id/answer body
read POST marketplace/activations/:id/messages/read body
`,
  runs: `
list GET marketplace/activations/:id/runs query page
get GET marketplace/activations/:id/runs/:runId
logs GET marketplace/activations/:id/runs/:runId/logs query page
cancel POST marketplace/activations/:id/runs/:runId/cancel body
`,
  credits: `
get GET marketplace/credits
grant POST marketplace/credits body
list GET marketplace/credits/entries query page
`,
  plans: `
list GET marketplace/plans
get GET marketplace/plan
preview GET marketplace/plan/preview query
change POST marketplace/plan body
`,
  brand: `
get GET marketplace/brand
update PATCH marketplace/brand body
`,
  landingPages: `
list GET marketplace/landing-pages query page
get GET marketplace/landing-pages/:id
publish POST marketplace/landing-pages/:id/publish
unpublish POST marketplace/landing-pages/:id/unpublish
delete DELETE marketplace/landing-pages/:id
stats GET marketplace/landing-pages/:id/stats query
submissions GET marketplace/landing-pages/:id/submissions query page
`,
  leadMagnets: `
list GET marketplace/lead-magnets query page
create POST marketplace/lead-magnets body maxFileBytes=26214400
get GET marketplace/lead-magnets/:id
delete DELETE marketplace/lead-magnets/:id
`,
  assets: `
list GET marketplace/assets query page
create POST marketplace/assets body maxFileBytes=5242880
get GET marketplace/assets/:id
delete DELETE marketplace/assets/:id
`,
  clock: `
show GET /__dev/clock open
freeze POST /__dev/clock/freeze open body
advance POST /__dev/clock/advance open body waitSeconds=600
next POST /__dev/clock/next open waitSeconds=600
thaw POST /__dev/clock/thaw open
`,
  world: `
reset POST /__dev/reset open
snapshots GET /__dev/snapshots open
snapshot POST /__dev/snapshot open body
restore POST /__dev/restore open body
`,
  faults: `
list GET /__dev/faults open
add POST /__dev/faults open body
clear DELETE /__dev/faults open
`,
};

/** The endpoints of `AgentClient`. */
export const AGENT_ENDPOINTS: EndpointTable = {
  self: `
get GET /api/agents/activations/:activationId
`,
  messages: `
list GET /api/agents/activations/:activationId/messages query page
get GET /api/agents/activations/:activationId/messages/:messageId
create POST /api/agents/activations/:activationId/messages body
cancel POST /api/agents/activations/:activationId/messages/:messageId/cancel body
read POST /api/agents/activations/:activationId/messages/read body
`,
  runs: `
start POST /api/agents/activations/:activationId/runs/start body
log POST /api/agents/activations/:activationId/runs/log body
complete POST /api/agents/activations/:activationId/runs/complete body
fail POST /api/agents/activations/:activationId/runs/fail body
cancel POST /api/agents/activations/:activationId/runs/cancel body
list GET /api/agents/activations/:activationId/runs query page
get GET /api/agents/activations/:activationId/runs/:runId
logs GET /api/agents/activations/:activationId/runs/:runId/logs query page
`,
  credits: `
get GET /api/agents/activations/:activationId/credits
list GET /api/agents/activations/:activationId/credits/transactions query page
consume POST /api/agents/activations/:activationId/credits/consume body
refund POST /api/agents/activations/:activationId/credits/:transactionId/refund body
`,
  wakeups: `
create POST /api/agents/activations/:activationId/wakeups body
list GET /api/agents/activations/:activationId/wakeups query page
get GET /api/agents/activations/:activationId/wakeups/:wakeupId
cancel DELETE /api/agents/activations/:activationId/wakeups/:wakeupId
`,
  landingPages: `
list GET /api/agents/activations/:activationId/landing-pages query page
create POST /api/agents/activations/:activationId/landing-pages body
get GET /api/agents/activations/:activationId/landing-pages/:id
update PATCH /api/agents/activations/:activationId/landing-pages/:id body
publish POST /api/agents/activations/:activationId/landing-pages/:id/publish
unpublish POST /api/agents/activations/:activationId/landing-pages/:id/unpublish
stats GET /api/agents/activations/:activationId/landing-pages/:id/stats query
`,
  leadMagnets: `
create POST /api/agents/activations/:activationId/lead-magnets body maxFileBytes=26214400
update PATCH /api/agents/activations/:activationId/lead-magnets/:id body
`,
  assets: `
create POST /api/agents/activations/:activationId/assets body maxFileBytes=5242880
`,
  brand: `
get GET /api/agents/activations/:activationId/brand
`,
  lists: `
list GET /api/agents/activations/:activationId/lists query page
get GET /api/agents/activations/:activationId/lists/:id
`,
  explanations: `
get GET /api/agents/activations/:activationId/explain/:id
`,
};
