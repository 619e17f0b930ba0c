// Generated from the contract by `npm run generate`.
import type { APIPromise } from "./api-promise.ts";
import type { CallOptions } from "./options.ts";
import type { PagePromise } from "./pagination.ts";
import type { AcceptedRecipient, Activation, AgentCredits, AgentMessage, AgentSelf, ApprovalDetail, Asset, Attachment, AuditEntry, Automation, AutomationConnection, AutomationDetail, AutomationEntry, AutomationGraph, AutomationOccurrence, AutomationStats, AutomationStep, AutomationTrigger, AutomationVersion, BatchEmail, BatchResponse, Brand, BrandSettings, Campaign, CampaignAudience, CampaignDetail, CampaignPatch, CampaignPreview, CampaignStats, CampaignVerification, CapturedMail, CapturedMailDetail, CatalogAgent, ClockState, Contact, ContactDetail, ContactImport, ContactImportSummary, ContactPatch, ContactTagging, ContactUpsert, CreditEntry, CreditTransaction, CustomValue, DashboardSession, Delivery, DeliveryDetail, DomainCheck, DryRun, Email, EmailDetail, Erasure, Event, EventReader, Explanation, FailedRecipient, Fault, Heartbeat, InboundDomain, Job, Key, LandingPage, LandingPageStats, LandingPageSubmission, LandingPageSummary, LeadMagnet, LintReport, LintRule, List, ListAddition, ListMember, ListMetadata, ListRemoval, Listing, ListingActivation, MailLimits, MailState, MailStateDetail, Member, Message, MetricsReport, MetricsVerification, NewCampaign, NewContact, NewRelay, Payment, Person, Plan, ProviderConnection, QueueStatus, ReaderRebuild, ReceivedAttachment, ReceivedMail, ReceivedMailDetail, ReceivedReplyRequest, Recipient, Recovery, Relay, RelayCheck, RelayStep, ReleasedMail, RequestRecord, Run, RunDetail, RunLogEntry, Segment, SegmentPreview, SegmentRule, SendRequest, SendResponse, Sender, SettingsSchema, SignUpForm, SlugSendRequest, Snapshot, StartedRun, Suppression, SuppressionImport, SuppressionRow, Template, TemplateBySlug, TemplateDetail, TemplateInput, TemplateOrigin, TemplatePreview, TemplateRendering, TemplateSendRequest, TemplateSendResponse, TemplateVersion, TrackBatch, TrackedEvent, VariableDeclaration, Wakeup, Webhook, WebhookDelivery, WebhookDeliveryDetail, WebhookRedelivery, WebhookTest, WebhookWithSecret, Workspace, WorkspaceRow, WrittenLandingPage } from "./types.generated.ts";
import type { FileUpload } from "./upload.ts";

/** The methods of `Mailsvc`, by noun and verb. */
export interface MailsvcMethods {
  /** List, inspect, cancel, reschedule and requeue emails */
  readonly emails: {
    /**
     * Send an email to one recipient, or to up to 50.
     *
     * The response is sent once the message is stored durably. With an array in `to` each address gets a separate message, and the response has their `ids`. With `together`, `cc` or `bcc` it is one mail to all of them, and the response has its `id` and `recipients`. Either way `failed` lists recipients that could not be queued; it is an error only if none could.
     *
     * `POST /api/v1/send`
     */
    send(input: SendRequest & { to: string; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
    }>;
    /**
     * Send an email to one recipient, or to up to 50.
     *
     * The response is sent once the message is stored durably. With an array in `to` each address gets a separate message, and the response has their `ids`. With `together`, `cc` or `bcc` it is one mail to all of them, and the response has its `id` and `recipients`. Either way `failed` lists recipients that could not be queued; it is an error only if none could.
     *
     * `POST /api/v1/send`
     */
    send(input: SendRequest & { to: string[]; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      ids: string[];
      status: "queued";
      count: number;
      failed?: FailedRecipient[] | undefined;
    }>;
    /**
     * Send an email to one recipient, or to up to 50.
     *
     * The response is sent once the message is stored durably. With an array in `to` each address gets a separate message, and the response has their `ids`. With `together`, `cc` or `bcc` it is one mail to all of them, and the response has its `id` and `recipients`. Either way `failed` lists recipients that could not be queued; it is an error only if none could.
     *
     * `POST /api/v1/send`
     */
    send(input: SendRequest & ({ cc: string | string[] } | { bcc: string | string[] } | { together: true }), options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      recipients: AcceptedRecipient[];
      failed?: FailedRecipient[] | undefined;
    }>;
    /**
     * Send an email to one recipient, or to up to 50.
     *
     * The response is sent once the message is stored durably. With an array in `to` each address gets a separate message, and the response has their `ids`. With `together`, `cc` or `bcc` it is one mail to all of them, and the response has its `id` and `recipients`. Either way `failed` lists recipients that could not be queued; it is an error only if none could.
     *
     * `POST /api/v1/send`
     */
    send(input: SendRequest, options?: CallOptions): APIPromise<SendResponse>;
    /**
     * Send a published template by slug and variables.
     *
     * Like templates.send, with the slug in the body.
     *
     * `POST /api/v1/v1/emails/send-template`
     */
    sendTemplate(input: SlugSendRequest & { to: string; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      template: string;
    }>;
    /**
     * Send a published template by slug and variables.
     *
     * Like templates.send, with the slug in the body.
     *
     * `POST /api/v1/v1/emails/send-template`
     */
    sendTemplate(input: SlugSendRequest & { to: string[]; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      ids: string[];
      status: "queued";
      count: number;
      failed?: FailedRecipient[] | undefined;
      template: string;
    }>;
    /**
     * Send a published template by slug and variables.
     *
     * Like templates.send, with the slug in the body.
     *
     * `POST /api/v1/v1/emails/send-template`
     */
    sendTemplate(input: SlugSendRequest & ({ cc: string | string[] } | { bcc: string | string[] } | { together: true }), options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      recipients: AcceptedRecipient[];
      failed?: FailedRecipient[] | undefined;
      template: string;
    }>;
    /**
     * Send a published template by slug and variables.
     *
     * Like templates.send, with the slug in the body.
     *
     * `POST /api/v1/v1/emails/send-template`
     */
    sendTemplate(input: SlugSendRequest, options?: CallOptions): APIPromise<TemplateSendResponse>;
    /**
     * Send up to 100 different emails in one request.
     *
     * Each email has the fields of a single send, or `template` with the slug of a published template; its result is what a single send responds. All are queued by one commit. With mode strict, none is queued if one cannot be: the error lists the faults by index, such as `emails[3].to`. With permissive, each succeeds or fails for itself. Besides the Idempotency-Key of the request, each email may have its own `idempotencyKey`; one that was queued before is `replayed`. A batch counts as one request of the rate limit.
     *
     * `POST /api/v1/send/batch`
     */
    sendBatch(input: {
      /** The emails, up to 100 with 1000 recipients in all */
      emails: BatchEmail[];
      /** If an email cannot be queued: queue none (strict), or all others (permissive) */
      mode?: "strict" | "permissive" | undefined;
    }, options?: CallOptions): APIPromise<BatchResponse>;
    /**
     * List emails, newest first.
     *
     * A mail to several recipients is listed once, if one of them matches all filters. The filters `reaction` and from `from` to `until` look through the newest 1,000 emails that the index of one filter yields: a page may be short or empty although more emails follow after `nextCursor`.
     *
     * `GET /api/v1/emails`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only emails with a recipient in this state; scheduled: those queued for a later time */
      status?: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled" | "scheduled" | undefined;
      /** Only emails to this address, also by cc or bcc */
      to?: string | undefined;
      /** Only emails of this template (its slug), without those of campaigns */
      template?: string | undefined;
      /** Only emails of this campaign (its id) */
      campaign?: string | undefined;
      /** Only emails accepted at this instant or later */
      since?: string | Date | undefined;
      /** Only emails accepted before this instant */
      until?: string | Date | undefined;
      /** Only emails that a person has opened, or clicked in; machines do not count */
      reaction?: "opened" | "clicked" | undefined;
      /** Only emails that a crash left in doubt: they may arrive twice */
      inDoubt?: boolean | undefined;
      /** Only emails from this address */
      from?: string | undefined;
      /** Only emails whose subject begins with this, in upper or lower case; of a campaign, the subject as it was written, with its variables */
      subject?: string | undefined;
      /** Only emails with this tag: name=value */
      tag?: string | undefined;
      /** Only emails that this automation has sent (its id) */
      automation?: string | undefined;
      /** Only answers that continue this conversation (its threadId) */
      thread?: string | undefined;
      /** Emails of test keys, instead of all others; always so with a test key */
      test?: boolean | undefined;
    }, options?: CallOptions): PagePromise<Email>;
    /**
     * Get one email with its content and history.
     *
     * The id of a recipient gives the mail, too.
     *
     * `GET /api/v1/emails/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<EmailDetail>;
    /**
     * Cancel an email that has not been sent yet.
     *
     * Possible while the email is queued or deferred; of a mail to several recipients, for those it has not been sent to. Cancelling it again changes nothing.
     *
     * `POST /api/v1/emails/:id/cancel`
     */
    cancel(id: string, options?: CallOptions): APIPromise<Email>;
    /**
     * Move a scheduled email to another time.
     *
     * `PATCH /api/v1/emails/:id`
     */
    reschedule(id: string, input: {
      /** The new instant (ISO 8601), at most 365 days ahead */
      scheduledAt: string | Date;
    }, options?: CallOptions): APIPromise<Email>;
    /**
     * Try a deferred email again now.
     *
     * Instead of at its nextAttemptAt. The attempt counts as one of the ten. Of a mail to several recipients, all deferred ones, or the one that `to` names; the others get nothing again. A recipient whose attempt is due already stays as it is. An email that was bounced or given up is over: send it again.
     *
     * `POST /api/v1/emails/:id/requeue`
     */
    requeue(id: string, input?: {
      /** Only this recipient */
      to?: string | undefined;
    }, options?: CallOptions): APIPromise<Email>;
  };
  /** States of mail without its content, for support: delivered, bounced, deferred, and why */
  readonly mailStates: {
    /**
     * List the states of emails, newest first.
     *
     * For people and programs that answer “did it arrive?”: addresses, states, times and the words of the receiving server. No subject, content, tags, opens or clicks.
     *
     * `GET /api/v1/mail-states`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only emails with a recipient in this state; scheduled: those queued for a later time */
      status?: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled" | "scheduled" | undefined;
      /** Only emails to this address, also by cc or bcc */
      to?: string | undefined;
      /** Only emails of this template (its slug), without those of campaigns */
      template?: string | undefined;
      /** Only emails of this campaign (its id) */
      campaign?: string | undefined;
      /** Only emails accepted at this instant or later */
      since?: string | Date | undefined;
      /** Only emails accepted before this instant */
      until?: string | Date | undefined;
    }, options?: CallOptions): PagePromise<MailState>;
    /**
     * Get the state of one email and its way so far.
     *
     * `GET /api/v1/mail-states/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<MailStateDetail>;
  };
  /** Received mail and replies: list, read, answer */
  readonly received: {
    /**
     * List received mail, newest first.
     *
     * `GET /api/v1/received`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only mail from this address */
      from?: string | undefined;
      /** Only mail to this address */
      to?: string | undefined;
      /** Only mail of this conversation (its threadId) */
      thread?: string | undefined;
      /** Only answers to this email (its id) */
      email?: string | undefined;
      /** Only automatic mail (true), or only mail by people (false) */
      autoReply?: boolean | undefined;
      /** Only mail received at this instant or later */
      since?: string | Date | undefined;
      /** Only mail received before this instant */
      until?: string | Date | undefined;
      /** Answers to emails of test keys, instead of all others; always so with a test key */
      test?: boolean | undefined;
    }, options?: CallOptions): PagePromise<ReceivedMail>;
    /**
     * Get one received mail with its texts and headers.
     *
     * `GET /api/v1/received/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<ReceivedMailDetail>;
    /**
     * List the files of a received mail.
     *
     * `GET /api/v1/received/:id/attachments`
     */
    attachments(id: string, options?: CallOptions): APIPromise<{
      data: ReceivedAttachment[];
    }>;
    /**
     * Download a file of a received mail.
     *
     * The bytes as they were sent. Nothing has been checked: treat the file as a stranger's.
     *
     * `GET /api/v1/received/:id/attachments/:number`
     */
    attachment(id: string, number: string, options?: CallOptions): APIPromise<Uint8Array>;
    /**
     * Download a received mail as it came.
     *
     * `GET /api/v1/received/:id/raw`
     */
    raw(id: string, options?: CallOptions): APIPromise<Uint8Array>;
    /**
     * Answer a received mail.
     *
     * Sends an email to its sender that mail programs show in the same conversation, and that has the same threadId here. When its Reply-To names several addresses, it is one mail to all of them, and `recipients` says which of them are suppressed. Who unsubscribed gets it only as the sender, or as the recipient of the email that was answered. Automatic mail cannot be answered, so that two programs never write to each other.
     *
     * `POST /api/v1/received/:id/reply`
     */
    reply(id: string, input?: ReceivedReplyRequest, options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      threadId: string;
      recipients?: AcceptedRecipient[] | undefined;
    }>;
    /**
     * Pass a received mail on to an agent.
     *
     * Posts what its sender wrote, without what it quotes, as your message to an agent that you have turned on. Its headers and files stay here; addresses and names of the sender and the recipients are replaced by [address] and [name]. Needs received:read as well. Passing it on again returns the same message. Deleting the mail, or erasing the person, removes the text from the message.
     *
     * `POST /api/v1/received/:id/pass-on`
     */
    passOn(id: string, input: {
      /** Slug of the agent */
      agent: string;
    }, options?: CallOptions): APIPromise<Message>;
    /**
     * Delete a received mail with its files.
     *
     * `DELETE /api/v1/received/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<ReceivedMail>;
  };
  /** Domains whose mail you receive */
  readonly inboundDomains: {
    /**
     * List the domains whose mail is received, newest first.
     *
     * `GET /api/v1/inbound-domains`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<InboundDomain>;
    /**
     * Add a domain whose mail is received, and start its verification.
     *
     * Once it is verified, mail to every address of the domain is received. It is verified by a DNS TXT record, which is looked for every five minutes for three days; in dev mode it is verified at once. A domain belongs to one workspace of a server.
     *
     * `POST /api/v1/inbound-domains`
     */
    create(input: {
      /** Domain whose mail is received, such as in.example.com */
      domain: string;
    }, options?: CallOptions): APIPromise<InboundDomain>;
    /**
     * Get one domain and the DNS records it needs.
     *
     * `GET /api/v1/inbound-domains/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<InboundDomain>;
    /**
     * Check the DNS records of a domain now.
     *
     * Of a domain that waits, the TXT record; of a verified one, the TXT and the MX record.
     *
     * `POST /api/v1/inbound-domains/:id/verify`
     */
    verify(id: string, input?: Record<never, never>, options?: CallOptions): APIPromise<InboundDomain>;
    /**
     * Remove a domain; later mail to it is refused.
     *
     * Mail that was received stays.
     *
     * `DELETE /api/v1/inbound-domains/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<InboundDomain>;
  };
  /** Email templates: write, preview, publish */
  readonly templates: {
    /**
     * List templates, newest first, without their content.
     *
     * `GET /api/v1/templates`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Part of the name or description */
      search?: string | undefined;
      /** Only this category */
      category?: string | undefined;
      /** Only this type */
      type?: "transactional" | "marketing" | "layout" | "partial" | undefined;
      /** Only active or inactive ones */
      status?: "ACTIVE" | "INACTIVE" | undefined;
    }, options?: CallOptions): PagePromise<Template>;
    /**
     * Create a template.
     *
     * A new template is a draft, which is validated but not used by sends. Publish it later, or create it with `publish`. Without a slug, one is generated from the name.
     *
     * `POST /api/v1/templates`
     */
    create(input: TemplateInput, options?: CallOptions): APIPromise<TemplateDetail>;
    /**
     * Get a template with its content, rendered and as source.
     *
     * `GET /api/v1/templates/:id`
     */
    get(id: string, input?: {
      /** A published version; the draft when absent */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<TemplateDetail>;
    /**
     * Update the draft of a template; omitted fields stay unchanged.
     *
     * `PATCH /api/v1/templates/:id`
     */
    update(id: string, input?: {
      /** Display name */
      name?: string | undefined;
      /** Identifier used in sends and in {{> …}}: lower-case letters, digits, - and _ */
      slug?: string | undefined;
      /** Description */
      description?: string | null | undefined;
      /** Category to sort it under */
      category?: string | null | undefined;
      /** Purpose of the template: transactional, marketing, layout or partial */
      type?: "transactional" | "marketing" | "layout" | "partial" | undefined;
      /** HTML gives up the blocks of a template of kind BLOCKS, and keeps their HTML */
      kind?: "HTML" | undefined;
      /** Subject; may contain {{ variables }} */
      subject?: string | null | undefined;
      /** Default sender; a send may override it */
      from?: string | null | undefined;
      /** Reply-To address, or up to ten; auto to receive the replies here */
      replyTo?: string | string[] | null | undefined;
      /** HTML with Handlebars */
      html?: string | null | undefined;
      /** Plain text with Handlebars; generated from the HTML when absent */
      text?: string | null | undefined;
      /** Content of a template of kind BLOCKS, as MailBlocks, or of kind JSON_BLOCKS, as you like */
      blocks?: Array<Record<string, unknown>> | null | undefined;
      /** Files that the HTML was rendered from, kept beside it; a change of html or text without them removes them */
      renderedFrom?: TemplateOrigin | null | undefined;
      /** Slug of the layout around it */
      layout?: string | null | undefined;
      /** Declared variables: type, required, default, description */
      variables?: VariableDeclaration[] | undefined;
      /** Publish it at once */
      publish?: boolean | undefined;
      /** Refuse the change unless this is the template's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<TemplateDetail>;
    /**
     * Delete a template with all its versions.
     *
     * A layout or partial that other templates use cannot be deleted: 409 conflict. Queued emails are sent as they were accepted, and so is the rest of a campaign that is being sent. Other campaigns and automations that name it cannot send it any more: `usedBy` of the template names them.
     *
     * `DELETE /api/v1/templates/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Template>;
    /**
     * Publish the draft, so that sends use it.
     *
     * Publishing an unchanged draft changes nothing.
     *
     * `POST /api/v1/templates/:id/publish`
     */
    publish(id: string, input?: {
      /** Refuse the change unless this is the template's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<Template>;
    /**
     * List the published versions of a template, newest first.
     *
     * `GET /api/v1/templates/:id/versions`
     */
    versions(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<TemplateVersion>;
    /**
     * Publish an earlier version again, as a new version.
     *
     * The draft is reset to it as well, unless it has unpublished changes.
     *
     * `POST /api/v1/templates/:id/rollback`
     */
    rollback(id: string, input: {
      /** The version to go back to */
      version: number;
      /** Refuse the change unless this is the template's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<Template>;
    /**
     * Deactivate a template: it is kept but cannot be sent.
     *
     * A layout or partial that other templates use cannot be deactivated: 409 conflict.
     *
     * `POST /api/v1/templates/:id/archive`
     */
    archive(id: string, options?: CallOptions): APIPromise<Template>;
    /**
     * Activate a template again.
     *
     * `POST /api/v1/templates/:id/unarchive`
     */
    unarchive(id: string, options?: CallOptions): APIPromise<Template>;
    /**
     * Render a template exactly as a send would, without sending.
     *
     * Missing variables are listed, and keep their placeholders in the result.
     *
     * `POST /api/v1/templates/:id/preview`
     */
    preview(id: string, input?: {
      /** Values of the template's variables, by name */
      variables?: Record<string, unknown> | undefined;
      /** A published version; the draft when absent */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<TemplatePreview>;
    /**
     * Validate and render sources that are not stored, such as local files.
     *
     * Layouts and partials come from the workspace unless they are given here by slug. An error is a template_error with its line and column.
     *
     * `POST /api/v1/templates/render`
     */
    render(input?: {
      /** Purpose of the template: transactional, marketing, layout or partial */
      type?: "transactional" | "marketing" | "layout" | "partial" | undefined;
      /** Subject; may contain {{ variables }} */
      subject?: string | null | undefined;
      /** HTML with Handlebars */
      html?: string | null | undefined;
      /** Plain text with Handlebars; generated from the HTML when absent */
      text?: string | null | undefined;
      /** Content of a template of kind BLOCKS, as MailBlocks, or of kind JSON_BLOCKS, as you like */
      blocks?: Array<Record<string, unknown>> | null | undefined;
      /** Slug of the layout around it */
      layout?: string | null | undefined;
      /** Declared variables */
      declare?: VariableDeclaration[] | undefined;
      /** Values of the template's variables, by name */
      variables?: Record<string, unknown> | undefined;
      /** Layouts and partials by slug, overriding those of the workspace */
      parts?: Record<string, {
        /** HTML with Handlebars */
        html?: string | null | undefined;
        /** Plain text with Handlebars; generated from the HTML when absent */
        text?: string | null | undefined;
        /** Declared variables: type, required, default, description */
        declare?: VariableDeclaration[] | undefined;
      }> | undefined;
    }, options?: CallOptions): APIPromise<TemplateRendering>;
    /**
     * Send a test of a template, or of its draft, to a few addresses.
     *
     * `POST /api/v1/templates/:id/test`
     */
    test(id: string, input: {
      /** One address, or up to 5 */
      to: string | string[];
      /** Values of the template's variables, by name */
      variables?: Record<string, unknown> | undefined;
      /** Overrides the template's sender */
      from?: string | undefined;
      /** A published version; the draft when absent */
      version?: number | undefined;
    } & { to: string }, options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      template: string;
    }>;
    /**
     * Send a test of a template, or of its draft, to a few addresses.
     *
     * `POST /api/v1/templates/:id/test`
     */
    test(id: string, input: {
      /** One address, or up to 5 */
      to: string | string[];
      /** Values of the template's variables, by name */
      variables?: Record<string, unknown> | undefined;
      /** Overrides the template's sender */
      from?: string | undefined;
      /** A published version; the draft when absent */
      version?: number | undefined;
    } & { to: string[] }, options?: CallOptions): APIPromise<{
      ids: string[];
      status: "queued";
      count: number;
      failed?: FailedRecipient[] | undefined;
      template: string;
    }>;
    /**
     * Send a test of a template, or of its draft, to a few addresses.
     *
     * `POST /api/v1/templates/:id/test`
     */
    test(id: string, input: {
      /** One address, or up to 5 */
      to: string | string[];
      /** Values of the template's variables, by name */
      variables?: Record<string, unknown> | undefined;
      /** Overrides the template's sender */
      from?: string | undefined;
      /** A published version; the draft when absent */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<TemplateSendResponse>;
    /**
     * List transactional templates, newest first.
     *
     * `GET /api/v1/v1/templates`
     */
    listTransactional(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Part of the name or description */
      search?: string | undefined;
      /** Only this category */
      category?: string | undefined;
    }, options?: CallOptions): PagePromise<Template>;
    /**
     * Get a template by slug, with its variables.
     *
     * `GET /api/v1/v1/templates/:slug`
     */
    getBySlug(slug: string, options?: CallOptions): APIPromise<TemplateBySlug>;
    /**
     * Send a published template to one or several recipients.
     *
     * Sends the version that is published when the request is accepted. `recipientVariables` overrides `variables` for single recipients.
     *
     * `POST /api/v1/send/:slug`
     */
    send(slug: string, input: TemplateSendRequest & { to: string; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      template: string;
    }>;
    /**
     * Send a published template to one or several recipients.
     *
     * Sends the version that is published when the request is accepted. `recipientVariables` overrides `variables` for single recipients.
     *
     * `POST /api/v1/send/:slug`
     */
    send(slug: string, input: TemplateSendRequest & { to: string[]; cc?: undefined; bcc?: undefined; together?: false | undefined }, options?: CallOptions): APIPromise<{
      ids: string[];
      status: "queued";
      count: number;
      failed?: FailedRecipient[] | undefined;
      template: string;
    }>;
    /**
     * Send a published template to one or several recipients.
     *
     * Sends the version that is published when the request is accepted. `recipientVariables` overrides `variables` for single recipients.
     *
     * `POST /api/v1/send/:slug`
     */
    send(slug: string, input: TemplateSendRequest & ({ cc: string | string[] } | { bcc: string | string[] } | { together: true }), options?: CallOptions): APIPromise<{
      id: string;
      status: "queued";
      recipients: AcceptedRecipient[];
      failed?: FailedRecipient[] | undefined;
      template: string;
    }>;
    /**
     * Send a published template to one or several recipients.
     *
     * Sends the version that is published when the request is accepted. `recipientVariables` overrides `variables` for single recipients.
     *
     * `POST /api/v1/send/:slug`
     */
    send(slug: string, input: TemplateSendRequest, options?: CallOptions): APIPromise<TemplateSendResponse>;
  };
  /** Addresses and domains you send from */
  readonly senders: {
    /**
     * List sender addresses and domains, newest first.
     *
     * `GET /api/v1/senders`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only senders in this state */
      status?: "PENDING" | "VERIFIED" | undefined;
    }, options?: CallOptions): PagePromise<Sender>;
    /**
     * Add a sender address or domain and start its verification.
     *
     * An address is verified by a confirmation mail, a domain by a DNS TXT record. In dev mode both are verified at once. Adding an existing one is a 409 conflict.
     *
     * `POST /api/v1/senders`
     */
    create(input?: {
      /** Address to send from */
      email?: string | undefined;
      /** Domain to send from, with all its addresses */
      domain?: string | undefined;
    }, options?: CallOptions): APIPromise<Sender>;
    /**
     * Get one sender.
     *
     * `GET /api/v1/senders/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Sender>;
    /**
     * Name the relay that takes mail from a sender.
     *
     * That of an address counts before that of its domain. Your operator knows the names of the relays.
     *
     * `PATCH /api/v1/senders/:id`
     */
    update(id: string, input: {
      /** Relay that takes its mail; null for none of its own */
      relay: string | null;
    }, options?: CallOptions): APIPromise<Sender>;
    /**
     * Check the DNS record of a domain now, or send the confirmation mail again.
     *
     * The record of a verified domain is looked for again. `force` verifies it without proof, for your own server. Only the owner key may do that, and the operator key once the server has several workspaces. A domain is verified in one workspace only.
     *
     * `POST /api/v1/senders/:id/verify`
     */
    verify(id: string, input?: {
      /** Verify it without proof; owner key, or operator key on a server with several workspaces */
      force?: boolean | undefined;
    }, options?: CallOptions): APIPromise<Sender>;
    /**
     * Remove a sender; later sends from it are refused.
     *
     * `DELETE /api/v1/senders/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Sender>;
    /**
     * Show the page behind the link of a confirmation mail.
     *
     * Opening the link changes nothing, because mail scanners open links; the button on the page confirms.
     *
     * `GET /senders/confirm/:token`
     */
    confirmPage(token: string, input?: {
      /** Language of the page, such as de; that of the browser by default */
      lang?: string | undefined;
    }, options?: CallOptions): APIPromise<string>;
    /**
     * Confirm a sender address.
     *
     * `POST /senders/confirm/:token`
     */
    confirm(token: string, input?: {
      /** Language of the page, such as de; that of the browser by default */
      lang?: string | undefined;
    }, options?: CallOptions): APIPromise<string>;
  };
  /** Check SPF, DKIM, DMARC, PTR and MX of a domain */
  readonly domains: {
    /**
     * Check the DNS records that mail from a domain needs: SPF, DKIM, DMARC, PTR and MX.
     *
     * Compares them with what this server signs with and with the relay that takes the mail, and gives the records to publish. DMARC is judged by RFC 9989. Name servers that fail, loop or do not answer are findings; it takes 15 seconds at most.
     *
     * `GET /api/v1/domain-check`
     */
    check(input: {
      /** A domain, or an address you send from */
      domain: string;
      /** DKIM selector of a provider that signs the mail itself */
      selector?: string | undefined;
      /** Public address that mail leaves from, if the relay is on this machine or network */
      ip?: string | undefined;
    }, options?: CallOptions): APIPromise<DomainCheck>;
  };
  /** Addresses that must not get mail */
  readonly suppressions: {
    /**
     * List suppressed addresses, newest first.
     *
     * `GET /api/v1/suppressions`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only this address */
      email?: string | undefined;
      /** Only addresses that contain this text */
      search?: string | undefined;
      /** Only this reason */
      reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
      /** Only this scope */
      scope?: "all" | "marketing" | undefined;
      /** Only suppressions from this source */
      source?: "api" | "import" | "bounce" | "complaint" | "unsubscribe" | undefined;
      /** Only suppressions created at this instant or later */
      since?: string | Date | undefined;
    }, options?: CallOptions): PagePromise<Suppression>;
    /**
     * Suppress an address.
     *
     * An existing suppression is kept; scope marketing is widened to all if requested, and unsubscribedAt keeps that the person unsubscribed. A contact with this address becomes BOUNCED, COMPLAINED or UNSUBSCRIBED, by the reason.
     *
     * `POST /api/v1/suppressions`
     */
    create(input: {
      /** Email address */
      email: string;
      /** all, or marketing only; marketing by default for reason unsubscribe, else all */
      scope?: "all" | "marketing" | undefined;
      /** Why the address is suppressed */
      reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
      /** For your own use, up to 500 characters */
      note?: string | undefined;
    }, options?: CallOptions): APIPromise<Suppression>;
    /**
     * Suppress up to 1,000 addresses at once.
     *
     * Entries with an invalid address are reported in failed, with their index; all others are imported. With dryRun nothing is stored, and the response tells what would happen.
     *
     * `POST /api/v1/suppressions/import`
     */
    import(input: {
      /** Up to 1,000 entries: [{ email, scope, reason, note }] */
      entries: SuppressionRow[];
      /** Only report what would happen */
      dryRun?: boolean | undefined;
    }, options?: CallOptions): APIPromise<SuppressionImport>;
    /**
     * Remove up to 1,000 suppressions at once, by id or address.
     *
     * Where a person unsubscribed beside another reason, that stays: with reason unsubscribe and scope marketing.
     *
     * `POST /api/v1/suppressions/remove`
     */
    remove(input: {
      /** Ids or addresses */
      entries: string[];
    }, options?: CallOptions): APIPromise<{
      removed: number;
      unsubscribed: number;
      failed: Array<{
        index: number;
        entry: string;
        code: "not_found";
        message: string;
      }>;
    }>;
    /**
     * Get one suppression, by id or address.
     *
     * `GET /api/v1/suppressions/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Suppression>;
    /**
     * Remove a suppression, by id or address.
     *
     * Answers the suppression as it was. If it had an unsubscribedAt beside another reason, that stays: with reason unsubscribe and scope marketing. The contact keeps its status; set it to SUBSCRIBED to send it marketing again.
     *
     * `DELETE /api/v1/suppressions/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Suppression>;
  };
  /** Your accounts at mail providers, which report bounces and complaints */
  readonly providers: {
    /**
     * List your connections to mail providers, newest first.
     *
     * `GET /api/v1/providers`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only connections to this provider */
      provider?: "ses" | "postmark" | "sendgrid" | "mailgun" | undefined;
    }, options?: CallOptions): PagePromise<ProviderConnection>;
    /**
     * Accept bounces and complaints from your account at a mail provider.
     *
     * Enter the URL of the answer at the provider: see docs/bounces.md. The key is stored encrypted and never shown. To change a key, add a second connection and remove the first. A workspace may have 20.
     *
     * `POST /api/v1/providers`
     */
    add(input: {
      /** The provider */
      provider: "ses" | "postmark" | "sendgrid" | "mailgun";
      /** Verifies its webhooks: Amazon SES the ARN of the SNS topic; Postmark USER:PASSWORD, which you make up; SendGrid the verification key; Mailgun the webhook signing key */
      key: string;
      /** For your own use */
      description?: string | undefined;
    }, options?: CallOptions): APIPromise<ProviderConnection>;
    /**
     * Remove a connection to a mail provider; its URL then answers 404.
     *
     * `DELETE /api/v1/providers/:id`
     */
    remove(id: string, options?: CallOptions): APIPromise<ProviderConnection>;
  };
  /** People you write to: list, create, import, search */
  readonly contacts: {
    /**
     * Begin an import that can be undone.
     *
     * Name its id as `import` in the requests of `contacts.import`. Its people get the tag, by default `import:` with the day and a number. It can be undone for 7 days. None begins with the tag of one that is being undone.
     *
     * `POST /api/v1/contacts/imports`
     */
    startImport(input?: {
      /** Name of the file */
      file?: string | undefined;
      /** Tag of its people; null for none, and by default import: with the day and a number */
      tag?: string | null | undefined;
    }, options?: CallOptions): APIPromise<ContactImportSummary>;
    /**
     * List the imports of the last 7 days, newest first.
     *
     * `GET /api/v1/contacts/imports`
     */
    imports(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<ContactImportSummary>;
    /**
     * Get an import by its id, its name or its tag.
     *
     * `GET /api/v1/contacts/imports/:id`
     */
    getImport(id: string, options?: CallOptions): APIPromise<ContactImportSummary>;
    /**
     * Undo an import of the last 7 days, by its id, its name or its tag.
     *
     * Contacts that it created are deleted, and others get their former fields, tags, status and memberships back, except for what was changed again since. Contacts that another import brought as well stay. Who unsubscribed since then stays unsubscribed. Nobody enters an automation by it. Large imports are undone in the background: until then the state is UNDOING. Undoing again changes nothing.
     *
     * `POST /api/v1/contacts/imports/:id/undo`
     */
    undoImport(id: string, options?: CallOptions): APIPromise<ContactImportSummary>;
    /**
     * List contacts, newest first.
     *
     * Filters are combined with AND. Among more than 20,000 contacts a search counts at most 200 hits; `totalIsMinimum` then is true.
     *
     * `GET /api/v1/contacts`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only contacts whose address, first or last name contains this text, case-insensitively */
      search?: string | undefined;
      /** Only contacts with this status */
      status?: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED" | undefined;
      /** Only contacts with this tag, case-insensitively */
      tag?: string | undefined;
      /** Only confirmed members of the list with this id */
      list?: string | undefined;
      /** Only contacts in the segment with this id */
      segment?: string | undefined;
    }, options?: CallOptions): PagePromise<Contact>;
    /**
     * Create a contact.
     *
     * Fails if a contact with this address exists, in any spelling, or one with this externalId, or the address is on the suppression list, in any scope.
     *
     * `POST /api/v1/contacts`
     */
    create(input: NewContact, options?: CallOptions): APIPromise<Contact>;
    /**
     * Create a contact, or update the one with this externalId or address.
     *
     * With an externalId that a contact has, that contact is meant, and its address changes to the given one; otherwise the one with this address. Responds with 201 for a new contact, 200 for an existing one, whose fields change only if they are sent. Never resubscribes a contact that unsubscribed, bounced, complained or is suppressed: a new contact with a suppressed address gets the status that fits the reason.
     *
     * `POST /api/v1/v1/contacts`
     */
    upsert(input: ContactUpsert, options?: CallOptions): APIPromise<Contact>;
    /**
     * Create or update up to 1,000 contacts at once.
     *
     * Each row is a contact as in `contacts.upsert`. Invalid rows are reported in `errors`; all others are imported. Sending the same rows again changes nothing, so an interrupted import can simply be repeated. Nobody enters an automation unless startAutomations is true; `automations` says who would. With dryRun nothing is stored, and the response tells what would happen.
     *
     * `POST /api/v1/contacts/import`
     */
    import(input: {
      /** Up to 1,000 contacts: [{ email, firstName, … }] */
      rows: unknown[];
      /** What to do with existing contacts: update or skip them */
      mode?: "upsert" | "skip" | undefined;
      /** Only report what would happen */
      dryRun?: boolean | undefined;
      /** Id of the import that the rows belong to, from contacts.startImport */
      import?: string | undefined;
      /** Id of a list that the contacts join */
      list?: string | undefined;
      /** Let the contacts enter automations; without it nobody enters one */
      startAutomations?: boolean | undefined;
    }, options?: CallOptions): APIPromise<ContactImport>;
    /**
     * Read all contacts in large pages, newest first.
     *
     * Like the list, with up to 1,000 contacts per page. Follow `nextCursor`: contacts added meanwhile neither repeat nor hide any.
     *
     * `GET /api/v1/contacts/export`
     */
    export(input?: {
      /** Contacts per page, 1 to 1,000 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only contacts whose address, first or last name contains this text, case-insensitively */
      search?: string | undefined;
      /** Only contacts with this status */
      status?: "SUBSCRIBED" | "UNSUBSCRIBED" | "BOUNCED" | "COMPLAINED" | undefined;
      /** Only contacts with this tag, case-insensitively */
      tag?: string | undefined;
      /** Only confirmed members of the list with this id */
      list?: string | undefined;
      /** Only contacts in the segment with this id */
      segment?: string | undefined;
    }, options?: CallOptions): PagePromise<Contact>;
    /**
     * Get one contact with its lists and segments.
     *
     * `id` is its id, its address or its externalId.
     *
     * `GET /api/v1/contacts/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<ContactDetail>;
    /**
     * Update a contact; fields that are not sent stay.
     *
     * `id` is its id, its address or its externalId. With another `email` the contact keeps its history, its memberships and what it consented to; links of confirmation emails sent to the former address stop working. `tags` replaces all tags; `customFields` sets fields one by one, and null removes one. `status` UNSUBSCRIBED suppresses the address in scope marketing, and SUBSCRIBED lifts that suppression. An address suppressed in scope all cannot be SUBSCRIBED: remove its suppression first.
     *
     * `PATCH /api/v1/contacts/:id`
     */
    update(id: string, input?: ContactPatch, options?: CallOptions): APIPromise<Contact>;
    /**
     * Add tags to up to 1,000 contacts, or remove some, by the ids, addresses or externalIds of the contacts.
     *
     * Each contact keeps its other tags, also those that others change at the same time. Contacts that do not exist, or would have more than 50 tags, are reported in failed, with their index; all others are changed.
     *
     * `POST /api/v1/contacts/tags`
     */
    tag(input: {
      /** Contacts, by their ids, addresses or externalIds, up to 1000 */
      contacts: string[];
      /** Tags to add */
      add?: string[] | undefined;
      /** Tags to remove */
      remove?: string[] | undefined;
      /** Whether contacts enter automations by this change; false for bulk changes */
      startAutomations?: boolean | undefined;
    }, options?: CallOptions): APIPromise<ContactTagging>;
    /**
     * Delete a contact permanently.
     *
     * `id` is its id, its address or its externalId. Deletes its tags and memberships too. A suppression of its address stays. To erase all data of a person, use `people.erase`.
     *
     * `DELETE /api/v1/contacts/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Contact>;
  };
  /** Everything about one person: read it, or erase it */
  readonly people: {
    /**
     * Get everything stored about a person.
     *
     * The person with an address, or with the id or externalId of a contact: contact, memberships, sign-ups with the texts consented to, ways through automations, events, suppression, and all emails to them and mail by them in pages of 50 at most.
     *
     * `GET /api/v1/people/:person`
     */
    get(person: string, input?: {
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): APIPromise<Person>;
    /**
     * Erase a person: contact, memberships, events, and all emails to them.
     *
     * The person is named by an address, or by the id or externalId of a contact. Cannot be undone. Queued emails are not sent. The contents of an email to several people stay for the others. A suppressed address stays suppressed in its scope, as a keyed hash.
     *
     * `DELETE /api/v1/people/:person`
     */
    erase(person: string, options?: CallOptions): APIPromise<Erasure>;
  };
  /** Lists of contacts, with double opt-in */
  readonly lists: {
    /**
     * List lists with their member counts, newest first.
     *
     * `GET /api/v1/lists`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only lists whose name contains this */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<List>;
    /**
     * Create a list.
     *
     * With doubleOptIn, contacts that are added get an email from confirmationFrom, and become members once they confirm on the page it links to.
     *
     * `POST /api/v1/lists`
     */
    create(input: {
      /** Name, up to 200 characters */
      name: string;
      /** For your own use, up to 1000 characters */
      description?: string | null | undefined;
      /** Contacts become members by confirming an email */
      doubleOptIn?: boolean | undefined;
      /** Verified sender of the confirmation email; required for double opt-in */
      confirmationFrom?: string | null | undefined;
      /** Subject of the confirmation email */
      confirmationSubject?: string | null | undefined;
      /** Members see its name on their preference page and can leave it there (default true) */
      public?: boolean | undefined;
      /** Language of its confirmation emails and pages for contacts that have none, such as de or pt-BR */
      language?: string | null | undefined;
    }, options?: CallOptions): APIPromise<List>;
    /**
     * Get one list with its member counts.
     *
     * `GET /api/v1/lists/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<List>;
    /**
     * Update a list; fields that are not sent stay.
     *
     * Changing doubleOptIn affects contacts added from now on; members stay members.
     *
     * `PATCH /api/v1/lists/:id`
     */
    update(id: string, input?: {
      /** Name, up to 200 characters */
      name?: string | undefined;
      /** For your own use, up to 1000 characters */
      description?: string | null | undefined;
      /** Contacts become members by confirming an email */
      doubleOptIn?: boolean | undefined;
      /** Verified sender of the confirmation email; required for double opt-in */
      confirmationFrom?: string | null | undefined;
      /** Subject of the confirmation email */
      confirmationSubject?: string | null | undefined;
      /** Members see its name on their preference page and can leave it there (default true) */
      public?: boolean | undefined;
      /** Language of its confirmation emails and pages for contacts that have none, such as de or pt-BR */
      language?: string | null | undefined;
    }, options?: CallOptions): APIPromise<List>;
    /**
     * Delete a list; its contacts stay.
     *
     * `DELETE /api/v1/lists/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<List>;
    /**
     * List the members of a list, newest contacts first.
     *
     * `GET /api/v1/lists/:id/contacts`
     */
    contacts(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only members, or only those who have not confirmed; both by default */
      status?: "MEMBER" | "PENDING" | undefined;
      /** Only contacts whose address or name contains this */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<ListMember>;
    /**
     * Add up to 1,000 contacts to a list, by their ids, addresses or externalIds.
     *
     * Contacts that do not exist are reported in failed, with their index; all others are added. Suppressed contacts cannot join a list with double opt-in, since no email may ask them.
     *
     * `POST /api/v1/lists/:id/contacts`
     */
    add(id: string, input: {
      /** Contacts, by their ids, addresses or externalIds, up to 1000 */
      contacts: string[];
      /** Whether contacts enter automations by this change; false for bulk changes */
      startAutomations?: boolean | undefined;
    }, options?: CallOptions): APIPromise<ListAddition>;
    /**
     * Remove up to 1,000 contacts from a list, by their ids, addresses or externalIds.
     *
     * `POST /api/v1/lists/:id/contacts/remove`
     */
    remove(id: string, input: {
      /** Contacts, by their ids, addresses or externalIds, up to 1000 */
      contacts: string[];
      /** Whether contacts enter automations by this change; false for bulk changes */
      startAutomations?: boolean | undefined;
    }, options?: CallOptions): APIPromise<ListRemoval>;
    /**
     * Remove one contact from a list, by its id, address or externalId.
     *
     * `DELETE /api/v1/lists/:id/contacts/:contact`
     */
    removeOne(id: string, contact: string, options?: CallOptions): APIPromise<ListMember>;
    /**
     * Send a pending contact another confirmation email.
     *
     * The link in the previous email stops working.
     *
     * `POST /api/v1/lists/:id/contacts/:contact/resend`
     */
    resend(id: string, contact: string, options?: CallOptions): APIPromise<ListMember>;
    /**
     * Show the page a confirmation email links to.
     *
     * Opening the link changes nothing, because mail scanners open links; the button on the page confirms.
     *
     * `GET /lists/confirm/:token`
     */
    confirmPage(token: string, input?: {
      /** Language of the page, such as de; that of the browser by default */
      lang?: string | undefined;
    }, options?: CallOptions): APIPromise<string>;
    /**
     * Confirm the membership of a list.
     *
     * `POST /lists/confirm/:token`
     */
    confirm(token: string, input?: {
      /** Language of the page, such as de; that of the browser by default */
      lang?: string | undefined;
    }, options?: CallOptions): APIPromise<string>;
  };
  /** Sign-up forms: hosted pages, and HTML for your own */
  readonly forms: {
    /**
     * List sign-up forms, newest first.
     *
     * `GET /api/v1/forms`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only forms in this state */
      status?: "DRAFT" | "PUBLISHED" | undefined;
    }, options?: CallOptions): PagePromise<SignUpForm>;
    /**
     * Create a sign-up form.
     *
     * It is on its hosted page at once, and `snippet` shows it on your own pages. A sign-up creates a contact, or adds missing fields to one, and never resubscribes anybody who has unsubscribed. The consent text is stored with each sign-up.
     *
     * `POST /api/v1/forms`
     */
    create(input: {
      /** Name, which is also the heading of the hosted page */
      name: string;
      /** List that visitors join */
      listId: string;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      /** Each person confirms by email before joining, even if the list does not ask for that (default true) */
      doubleOptIn?: boolean | undefined;
      /** Page of yours that visitors see next, instead of ours */
      redirectUrl?: string | null | undefined;
      /** Fields besides the email address */
      fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
      /** Names of the fields, by field */
      labels?: {
        email?: string | undefined;
        firstName?: string | undefined;
        lastName?: string | undefined;
        phone?: string | undefined;
      } | undefined;
      /** Text of the button */
      button?: string | undefined;
      /** Text that visitors agree to by submitting the form; stored with each sign-up */
      consentText?: string | undefined;
      /** Visitors must tick a box next to the consent text */
      consentCheckbox?: boolean | undefined;
      /** Heading of the page that follows */
      thanksTitle?: string | undefined;
      /** Text of the page that follows */
      thanksText?: string | undefined;
      /** DRAFT takes the hosted page and the form offline */
      status?: "DRAFT" | "PUBLISHED" | undefined;
    }, options?: CallOptions): APIPromise<SignUpForm>;
    /**
     * Show one form.
     *
     * `GET /api/v1/forms/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<SignUpForm>;
    /**
     * Update a form; fields that are not sent stay.
     *
     * With `version`, or an If-Match header, it fails with 412 if the form has changed since that version. Old addresses of the form go on working.
     *
     * `PATCH /api/v1/forms/:id`
     */
    update(id: string, input?: {
      /** Name, which is also the heading of the hosted page */
      name?: string | undefined;
      /** List that visitors join */
      listId?: string | undefined;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      /** Each person confirms by email before joining, even if the list does not ask for that (default true) */
      doubleOptIn?: boolean | undefined;
      /** Page of yours that visitors see next, instead of ours */
      redirectUrl?: string | null | undefined;
      /** Fields besides the email address */
      fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
      /** Names of the fields; null for the usual ones */
      labels?: {
        email?: string | undefined;
        firstName?: string | undefined;
        lastName?: string | undefined;
        phone?: string | undefined;
      } | null | undefined;
      /** Text of the button; null for the usual one */
      button?: string | null | undefined;
      /** Text that visitors agree to; null for the usual sentence */
      consentText?: string | null | undefined;
      /** Visitors must tick a box next to the consent text */
      consentCheckbox?: boolean | undefined;
      /** Heading of the page that follows; null for the usual one */
      thanksTitle?: string | null | undefined;
      /** Text of the page that follows; null for the usual one */
      thanksText?: string | null | undefined;
      /** DRAFT takes the hosted page and the form offline */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** The version you read; a newer one answers 412 */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<SignUpForm>;
    /**
     * Delete a form with its statistics and sign-ups; contacts stay.
     *
     * `DELETE /api/v1/forms/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<SignUpForm>;
    /**
     * Show views and sign-ups of a form.
     *
     * `GET /api/v1/forms/:id/stats`
     */
    stats(id: string, input?: {
      /** First day, UTC; by default 29 days before `to` */
      from?: string | undefined;
      /** Last day, UTC; today by default */
      to?: string | undefined;
      /** Length of each period */
      granularity?: "day" | undefined;
    }, options?: CallOptions): APIPromise<LandingPageStats>;
    /**
     * List the sign-ups of a form with their consent, newest first.
     *
     * `GET /api/v1/forms/:id/submissions`
     */
    submissions(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<LandingPageSubmission>;
  };
  /** Dynamic contact groups defined by rules */
  readonly segments: {
    /**
     * List segments, newest first.
     *
     * `GET /api/v1/segments`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only segments whose name contains this */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<Segment>;
    /**
     * Create a segment: a dynamic group of contacts, defined by rules.
     *
     * Contacts enter and leave automatically, with the events segment.entered and segment.left.
     *
     * `POST /api/v1/segments`
     */
    create(input: {
      /** Name, up to 200 characters */
      name: string;
      /** For your own use, up to 1000 characters */
      description?: string | null | undefined;
      rules: SegmentRule;
    }, options?: CallOptions): APIPromise<Segment>;
    /**
     * Count the contacts that match rules, and show the newest of them.
     *
     * Nothing is stored. More than 10,000 contacts are not counted: `countIsMinimum` says so.
     *
     * `POST /api/v1/segments/preview`
     */
    preview(input: {
      rules: SegmentRule;
      /** Contacts to show, 0 to 100 */
      limit?: number | undefined;
    }, options?: CallOptions): APIPromise<SegmentPreview>;
    /**
     * Get one segment.
     *
     * `GET /api/v1/segments/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Segment>;
    /**
     * Update a segment; fields that are not sent stay.
     *
     * `PATCH /api/v1/segments/:id`
     */
    update(id: string, input?: {
      /** Name, up to 200 characters */
      name?: string | undefined;
      /** For your own use, up to 1000 characters */
      description?: string | null | undefined;
      rules?: SegmentRule | undefined;
      /** Refuse the change unless this is the segment's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<Segment>;
    /**
     * Delete a segment; its contacts stay.
     *
     * `DELETE /api/v1/segments/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Segment>;
    /**
     * List the contacts of a segment, newest first.
     *
     * `GET /api/v1/segments/:id/contacts`
     */
    contacts(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<Contact>;
  };
  /** Email to many contacts: draft, schedule, send, measure */
  readonly campaigns: {
    /**
     * List campaigns, newest first.
     *
     * `GET /api/v1/campaigns`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only campaigns in this state */
      status?: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "PAUSED" | "CANCELLED" | undefined;
      /** Only campaigns whose name or subject contains this */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<Campaign>;
    /**
     * Create a campaign: a draft, or scheduled if it has a scheduledAt.
     *
     * The content is a template or html and text; a draft may have none yet. Contact fields are variables: {{email}}, {{externalId}}, {{firstName}}, {{lastName}}, {{phone}}, {{language}}, {{tags}} and every custom field.
     *
     * `POST /api/v1/campaigns`
     */
    create(input: NewCampaign, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Get one campaign with its template, segments and lists.
     *
     * `GET /api/v1/campaigns/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Update a campaign that has not started; fields that are not sent stay.
     *
     * null removes a field. A scheduledAt schedules the campaign, and null makes it a draft again.
     *
     * `PATCH /api/v1/campaigns/:id`
     */
    update(id: string, input?: CampaignPatch, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Delete a campaign that has not started.
     *
     * `DELETE /api/v1/campaigns/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Schedule a campaign that has not started, or move its date.
     *
     * `POST /api/v1/campaigns/:id/schedule`
     */
    schedule(id: string, input: {
      /** When to send (ISO 8601), in the future, at most 365 days ahead */
      scheduledAt: string | Date;
      /** Refuse the change unless this is the campaign's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Count who would get a campaign if it were sent now.
     *
     * Compares all contacts that may match: a second or two for a million. Once sending has started, `audience` of campaigns.stats has the number at the start.
     *
     * `GET /api/v1/campaigns/:id/audience`
     */
    audience(id: string, options?: CallOptions): APIPromise<CampaignAudience>;
    /**
     * Send a draft or scheduled campaign now.
     *
     * The audience and the content are fixed at this instant; later changes of the list, the segment, their members or the template do not reach the campaign. Each contact of the audience becomes a recipient. The response comes at once, and the campaign is SENDING until each recipient had an attempt.
     *
     * `POST /api/v1/campaigns/:id/send`
     */
    send(id: string, input?: {
      /** Refuse the change unless this is the campaign's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Pause a campaign that is being sent.
     *
     * Mail that is being handed over at this moment, and up to 64 emails that are next, may go out within a second after the response; everything else waits for resume.
     *
     * `POST /api/v1/campaigns/:id/pause`
     */
    pause(id: string, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Continue a paused campaign where it stopped.
     *
     * A scheduled campaign that was held, because it was late or could not start, is started.
     *
     * `POST /api/v1/campaigns/:id/resume`
     */
    resume(id: string, input?: {
      /** Refuse the change unless this is the campaign's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Cancel a campaign for good; recipients that got nothing yet get nothing.
     *
     * `POST /api/v1/campaigns/:id/cancel`
     */
    cancel(id: string, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Make a draft with the fields of another campaign.
     *
     * `POST /api/v1/campaigns/:id/duplicate`
     */
    duplicate(id: string, input?: {
      /** Name, up to 200 characters */
      name?: string | undefined;
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Make a draft that goes to those who did not open or click a campaign, or whom it did not reach.
     *
     * A copy of the campaign, to change and send. Its recipients are fixed when it is sent; contacts that have unsubscribed since the earlier campaign are skipped.
     *
     * `POST /api/v1/campaigns/:id/resend`
     */
    resend(id: string, input: {
      /** Who did not open it, who did not click in it, or whom it did not reach: bounced, failed, suppressed, skipped or cancelled */
      to: "not_opened" | "not_clicked" | "failed";
      /** Name, up to 200 characters */
      name?: string | undefined;
      /** Subject, up to 998 characters; may contain {{ variables }} */
      subjectLine?: string | undefined;
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * Send a test of a campaign to up to five addresses.
     *
     * An address of a contact gets its fields; for other addresses they are empty. The subject begins with [Test]; the unsubscribe link works, for the address that gets the test. Nothing is counted.
     *
     * `POST /api/v1/campaigns/:id/test`
     */
    test(id: string, input: {
      /** Addresses, up to five */
      to: string[];
      /** Id, address or externalId of the contact as whom the test is rendered; by default the contact of each address */
      contact?: string | undefined;
      /** Only this variant of an A/B test; all of them when absent */
      variant?: "A" | "B" | "C" | "D" | "E" | undefined;
    }, options?: CallOptions): APIPromise<{
      ids: string[];
      count: number;
    }>;
    /**
     * Render a campaign as a contact sees it, without sending.
     *
     * With the content as it is now, also of a campaign that has started. Without a contact, its fields are empty. Links are not tracked, and the unsubscribe link does nothing.
     *
     * `GET /api/v1/campaigns/:id/preview`
     */
    preview(id: string, input?: {
      /** Id, address or externalId of the contact */
      contact?: string | undefined;
      /** The variant of an A/B test; the first one when absent */
      variant?: "A" | "B" | "C" | "D" | "E" | undefined;
    }, options?: CallOptions): APIPromise<CampaignPreview>;
    /**
     * Decide an A/B test by hand; the rest of the recipients gets this variant.
     *
     * `POST /api/v1/campaigns/:id/winner`
     */
    winner(id: string, input: {
      /** The variant that wins */
      variant: "A" | "B" | "C" | "D" | "E";
    }, options?: CallOptions): APIPromise<CampaignDetail>;
    /**
     * List the recipients of a campaign, with the reason where one was skipped, newest first.
     *
     * To read all of them, follow `nextCursor` with a limit of 1,000.
     *
     * `GET /api/v1/campaigns/:id/recipients`
     */
    recipients(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 1,000 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only recipients in this state */
      status?: "queued" | "sending" | "sent" | "delivered" | "deferred" | "bounced" | "complained" | "failed" | "suppressed" | "skipped" | "cancelled" | undefined;
    }, options?: CallOptions): PagePromise<Recipient>;
    /**
     * Show the statistics of a campaign.
     *
     * `GET /api/v1/campaigns/:id/stats`
     */
    stats(id: string, input?: {
      /** Length of a point of the series */
      interval?: "hour" | "day" | undefined;
    }, options?: CallOptions): APIPromise<CampaignStats>;
    /**
     * Count all recipients and events of a campaign anew and compare.
     *
     * Reads everything: some seconds for a million recipients. While the campaign is being sent, differences may be changes between two reads. A campaign whose mail or events the server may have deleted since (`--keep`) is refused.
     *
     * `GET /api/v1/campaigns/:id/verify`
     */
    verify(id: string, options?: CallOptions): APIPromise<CampaignVerification>;
  };
  /** Series of steps for each contact: define, activate, watch */
  readonly automations: {
    /**
     * List automations, newest first.
     *
     * Archived automations are in their own list: archived=true.
     *
     * `GET /api/v1/automations`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only archived automations (true), or only the others (false, the default) */
      archived?: boolean | undefined;
      /** Only automations in this state */
      status?: "DRAFT" | "ACTIVE" | "PAUSED" | undefined;
      /** Only automations whose name contains this */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<Automation>;
    /**
     * Create an automation as a draft.
     *
     * Steps and connections are a graph that begins at trigger. Nothing happens before the automation is activated.
     *
     * `POST /api/v1/automations`
     */
    create(input: {
      /** Name */
      name: string;
      /** What it is for */
      description?: string | null | undefined;
      /** What makes a contact enter: { "type": "contact.created" } */
      trigger: AutomationTrigger;
      /** The steps, each with an id */
      steps: AutomationStep[];
      /** What follows what: { from, to, branch }. The first one begins at trigger */
      connections: AutomationConnection[];
      /** What counts as success, while a contact is inside */
      goal?: AutomationOccurrence | null | undefined;
      /** Currency of its revenue; USD when absent */
      currency?: string | undefined;
      /** Let a contact enter again once it is out; false when absent */
      allowReEntry?: boolean | undefined;
      /** Hours from one entry of a contact to its next one, at least; 24 when absent */
      reEntryDelayHours?: number | undefined;
    }, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Get one automation with its definition and numbers.
     *
     * `GET /api/v1/automations/:id`
     */
    get(id: string, input?: {
      /** Show this version of the definition; the newest when absent */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Update an automation; fields that are not sent stay.
     *
     * steps and connections are sent together and make a new version. Contacts that are inside stay in the version they entered; an active automation takes new ones into the new version at once.
     *
     * `PATCH /api/v1/automations/:id`
     */
    update(id: string, input?: {
      /** Name */
      name?: string | undefined;
      /** What it is for */
      description?: string | null | undefined;
      /** What makes a contact enter: { "type": "contact.created" } */
      trigger?: AutomationTrigger | undefined;
      /** The steps, each with an id */
      steps?: AutomationStep[] | undefined;
      /** What follows what: { from, to, branch }. The first one begins at trigger */
      connections?: AutomationConnection[] | undefined;
      /** What counts as success, while a contact is inside */
      goal?: AutomationOccurrence | null | undefined;
      /** Currency of its revenue; USD when absent */
      currency?: string | undefined;
      /** Let a contact enter again once it is out; false when absent */
      allowReEntry?: boolean | undefined;
      /** Hours from one entry of a contact to its next one, at least; 24 when absent */
      reEntryDelayHours?: number | undefined;
      /** Refuse the change unless this is the automation's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Delete an automation that is not active, with its entries.
     *
     * Entries that were paused end here, and the numbers of the automation are gone with it.
     *
     * `DELETE /api/v1/automations/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Activate an automation, or continue a paused one.
     *
     * Templates must be published and senders verified; the versions of the templates are pinned. Contacts enter from now on. Of a paused automation, what became due meanwhile is done at once, and later delays count from then.
     *
     * `POST /api/v1/automations/:id/activate`
     */
    activate(id: string, input?: {
      /** Refuse the change unless this is the automation's current revision */
      revision?: number | undefined;
    }, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Pause an automation: no contact enters, and entries stay where they are.
     *
     * `POST /api/v1/automations/:id/pause`
     */
    pause(id: string, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Archive an automation that is not active: lists leave it out, and its numbers stay.
     *
     * It cannot be changed or activated until it is unarchived. Entries that were paused stay where they are.
     *
     * `POST /api/v1/automations/:id/archive`
     */
    archive(id: string, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * Bring an archived automation back, in the state it had.
     *
     * `POST /api/v1/automations/:id/unarchive`
     */
    unarchive(id: string, options?: CallOptions): APIPromise<AutomationDetail>;
    /**
     * List the definitions an automation has had, newest first.
     *
     * Get one with its steps: GET /api/v1/automations/:id?version=2.
     *
     * `GET /api/v1/automations/:id/versions`
     */
    versions(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<AutomationVersion>;
    /**
     * Get how many entries came to each step, wait there, and went on.
     *
     * `GET /api/v1/automations/:id/stats`
     */
    stats(id: string, options?: CallOptions): APIPromise<AutomationStats>;
    /**
     * Show which way a contact would take, and what each step would do, without doing it.
     *
     * Nothing is written and no email is sent. Conditions are evaluated for the contact as the steps before would have changed it, at the time they would be reached. With a `definition`, steps can be tried before they are saved.
     *
     * `POST /api/v1/automations/:id/test`
     */
    test(id: string, input: {
      /** Id, address or externalId of the contact */
      contact: string;
      /** A version of the definition; the newest when absent */
      version?: number | undefined;
      /** Steps and connections that are not saved, in place of a version: { steps, connections } */
      definition?: AutomationGraph | undefined;
      /** When the contact enters; now when absent */
      at?: string | Date | undefined;
      /** The event of yours by which the contact enters, for templates that use it: { name, value, currency, properties } */
      event?: {
        /** Name of an event of yours, such as purchase */
        name: string;
        /** Its value in whole units of the currency, such as the total of an order */
        value?: number | undefined;
        /** Currency, such as USD or EUR */
        currency?: string | undefined;
        /** Further facts: filters and templates of automations can use it, as properties.<name> and {{ event.properties.<name> }} */
        properties?: Record<string, CustomValue> | undefined;
      } | undefined;
      /** The branch taken at a step, by the id of the step, in place of the one that follows from the contact */
      assume?: Record<string, string> | undefined;
    }, options?: CallOptions): APIPromise<DryRun>;
    /**
     * List who entered an automation, with path, times and reasons, newest first.
     *
     * `GET /api/v1/automations/:id/entries`
     */
    entries(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only entries in this state */
      status?: "ACTIVE" | "COMPLETED" | "EXITED" | "FAILED" | undefined;
      /** Only entries of this contact (its id, address or externalId) */
      contact?: string | undefined;
    }, options?: CallOptions): PagePromise<AutomationEntry>;
  };
  /** What happened: list, inspect and follow events */
  readonly events: {
    /**
     * List events, newest first or after a sequence.
     *
     * Without `after`, for looking: newest first, all events by their sequence, those of a filter by the time at which they happened. With `after`, for following: in the order of their sequence, oldest first, because an event may be recorded later than it happened. Filters can be combined. Events of mail of test keys are left out without `after`, unless `test` asks for them; a test key sees no others. Events are kept for as long as the server's --keep says. With Accept: text/event-stream it is the stream of `tail`.
     *
     * `GET /api/v1/v1/events`
     */
    list(input?: {
      /** Page number, from 1. A filtered list of more than two event types has page numbers for its first 1,000 events only; continue with cursor */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only these types, with commas between them; email.* for all of a kind */
      type?: string | undefined;
      /** Only events of this email (its id), or of one of its recipients (the id of that) */
      email?: string | undefined;
      /** Only events of emails to this address */
      to?: string | undefined;
      /** Only events of emails with this tag: name=value */
      tag?: string | undefined;
      /** Only events of this campaign (its id) */
      campaign?: string | undefined;
      /** Only events of this automation (its id) */
      automation?: string | undefined;
      /** Only events of this contact (its id, address or externalId) and of emails to its address */
      contact?: string | undefined;
      /** Only opens and clicks by machines (true), or by people (false) */
      machine?: boolean | undefined;
      /** Only events of mail of test keys (true), or of everything else (false) */
      test?: boolean | undefined;
      /** Only events at this instant or later */
      since?: string | Date | undefined;
      /** Only events before this instant */
      until?: string | Date | undefined;
      /** Only events with a higher sequence, oldest first; 0 for all. Continue with the last sequence you have seen */
      after?: number | undefined;
    }, options?: CallOptions): PagePromise<Event>;
    /**
     * Follow events as they happen.
     *
     * Server-sent events: `id` is the event's sequence, `data` the event as JSON. A client that lost the connection continues after the id in Last-Event-ID. An API key may follow with 10 connections at a time, a workspace with 25. When the key is revoked, its connections end.
     *
     * `GET /api/v1/v1/events/stream`
     */
    tail(input?: {
      /** Begin with this sequence, as far as it is kept; without it, with what happens next */
      from?: number | undefined;
      /** Only these types, with commas between them; email.* for all of a kind */
      type?: string | undefined;
      /** Only events of this email (its id), or of one of its recipients (the id of that) */
      email?: string | undefined;
      /** Only events of emails to this address */
      to?: string | undefined;
      /** Only events of emails with this tag: name=value */
      tag?: string | undefined;
      /** Only events of this campaign (its id) */
      campaign?: string | undefined;
      /** Only events of this automation (its id) */
      automation?: string | undefined;
      /** Only events of this contact (its id, address or externalId) and of emails to its address */
      contact?: string | undefined;
      /** Only opens and clicks by machines (true), or by people (false) */
      machine?: boolean | undefined;
      /** Only events of mail of test keys (true), or of everything else (false) */
      test?: boolean | undefined;
    }, options?: CallOptions): AsyncGenerator<Event, void, undefined>;
    /**
     * Get one event.
     *
     * `GET /api/v1/v1/events/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Event>;
    /**
     * Report your own event about a contact, with its value.
     *
     * It is a trigger and a goal of automations (type event), and its value is revenue of the active automations the contact is inside. Send an `id` or an Idempotency-Key, so that a repeated request counts once.
     *
     * `POST /api/v1/track`
     */
    track(input: TrackedEvent, options?: CallOptions): APIPromise<{
      type: "contact.tracked";
      contactId: string;
      name: string;
      /** ISO 8601 instant */
      at: string;
      repeated: boolean;
    }>;
    /**
     * Report up to 1,000 events of your own about contacts.
     *
     * Each event is as in `events.track`, and is tracked or refused on its own: `results` has its result, `errors` what is wrong. With an `id` for each event the same request can be sent again. With createContacts an event about an unknown address creates its contact, as `contacts.upsert` does; that needs the permission contacts:write. All is stored when the answer comes. A batch counts as one request of the rate limit.
     *
     * `POST /api/v1/track/batch`
     */
    trackBatch(input: {
      /** Up to 1,000 events: [{ name, contact, id, at, value, … }] */
      events: unknown[];
      /** Create the contacts of addresses that are unknown */
      createContacts?: boolean | undefined;
    }, options?: CallOptions): APIPromise<TrackBatch>;
  };
  /** Requests to the API: list and follow them */
  readonly requests: {
    /**
     * List the latest requests to the API, newest first.
     *
     * Requests of the workspace, and those that came without a key that works. Bodies, queries and headers are never kept. What only looks at a dev server is left out: reads of the dashboard, of the terminal's screen and of this list. A dev server keeps the last 1,000 in memory. A server in production keeps them for as long as its flag --keep requests=30 says, and none without it.
     *
     * `GET /api/v1/requests`
     */
    list(input?: {
      /** Only requests with an error, or only those without */
      failed?: boolean | undefined;
      /** Only requests with this key: its id, its name or its preview */
      key?: string | undefined;
      /** Only paths that begin with this; * matches anything, e.g. /api/v1/emails/*\/cancel */
      path?: string | undefined;
      /** Only this method */
      method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | undefined;
      /** Only requests with a higher sequence. Continue with the highest that you have seen */
      after?: number | undefined;
      /** Maximum number of requests */
      limit?: number | undefined;
    }, options?: CallOptions): APIPromise<{
      data: RequestRecord[];
    }>;
    /**
     * Follow requests to the API as they are answered.
     *
     * Requests of the workspace, and those that came without a key that works. Bodies, queries and headers are never kept. What only looks at a dev server is left out: reads of the dashboard, of the terminal's screen and of this list. Server-sent events: `id` is the sequence, `data` the request as JSON. A client that lost the connection continues after the id in Last-Event-ID. A server in production is followed where it keeps requests, with --keep requests=30.
     *
     * `GET /api/v1/requests/stream`
     */
    tail(input?: {
      /** Only requests with an error, or only those without */
      failed?: boolean | undefined;
      /** Only requests with this key: its id, its name or its preview */
      key?: string | undefined;
      /** Only paths that begin with this; * matches anything, e.g. /api/v1/emails/*\/cancel */
      path?: string | undefined;
      /** Only this method */
      method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | undefined;
    }, options?: CallOptions): AsyncGenerator<RequestRecord, void, undefined>;
  };
  /** Counts of mail that was sent, delivered, opened and refused, by day, tag, sender and receiver */
  readonly metrics: {
    /**
     * Show how much mail was sent, delivered, opened, bounced and complained about.
     *
     * Each number is of what happened in that time: an email that was sent on Monday and opened on Tuesday counts on both days. With `by`, mail is divided by one of its properties; a filter leaves the mail with one value of it. Numbers outlive the mail and events they are of. Mail of test keys is counted apart. Up to 400 days, by the hour up to 31.
     *
     * `GET /api/v1/metrics`
     */
    get(input?: {
      /** First day; 30 days that end with `to` when absent */
      from?: string | undefined;
      /** Last day; today when absent */
      to?: string | undefined;
      /** Time zone in which days begin, such as Europe/Berlin; that of the workspace's brand when absent */
      zone?: string | undefined;
      /** Length of the parts of the period; `all` for one part */
      interval?: "hour" | "day" | "all" | undefined;
      /** Divide mail by this; a domain is `gmail`, `microsoft` or `yahoo` where these receive its mail */
      by?: "tag" | "sender" | "domain" | "relay" | "campaign" | "template" | undefined;
      /** Values of `by`, the most frequent first; the rest is counted together */
      limit?: number | undefined;
      /** Only mail with this tag: name=value */
      tag?: string | undefined;
      /** Only mail from this address */
      sender?: string | undefined;
      /** Only mail to this domain, or to gmail, microsoft or yahoo */
      domain?: string | undefined;
      /** Only mail by this relay */
      relay?: string | undefined;
      /** Only mail of this campaign (its id) */
      campaign?: string | undefined;
      /** Only mail by this template (its slug) */
      template?: string | undefined;
      /** Only mail of test keys (true) */
      test?: boolean | undefined;
    }, options?: CallOptions): APIPromise<MetricsReport>;
    /**
     * Show the limits of bounces and complaints, and how near you are.
     *
     * Campaigns pause when too much mail bounces or is reported as spam, until a person resumes one; all other mail goes on. Mail of test keys never counts.
     *
     * `GET /api/v1/metrics/limits`
     */
    limits(options?: CallOptions): APIPromise<MailLimits>;
    /**
     * Set the limits of bounces and complaints.
     *
     * Limits are shares, 0 to 1; null for none. What you leave out stays.
     *
     * `PATCH /api/v1/metrics/limits`
     */
    setLimits(input?: {
      /** Emails from which on a rate counts; 200 unless you set it */
      leastMails?: number | undefined;
      /** Share of bounces that warns; 0.05 unless you set it */
      bounceWarn?: number | null | undefined;
      /** Share of bounces that pauses campaigns; 0.1 unless you set it */
      bouncePause?: number | null | undefined;
      /** Share of complaints that warns; 0.001 unless you set it */
      complaintWarn?: number | null | undefined;
      /** Share of complaints that pauses campaigns; 0.003 unless you set it */
      complaintPause?: number | null | undefined;
    }, options?: CallOptions): APIPromise<MailLimits>;
    /**
     * Count all events of some days anew and compare.
     *
     * Days are those of UTC. Reads all events of the days: minutes for a million emails. Days whose events the server may have deleted since (`--keep`) are refused.
     *
     * `GET /api/v1/metrics/verify`
     */
    verify(input?: {
      /** First day; 30 days that end with `to` when absent */
      from?: string | undefined;
      /** Last day; today when absent */
      to?: string | undefined;
    }, options?: CallOptions): APIPromise<MetricsVerification>;
  };
  /** Your webhooks: register, test, see and repeat deliveries */
  readonly webhooks: {
    /**
     * List your webhooks, newest first.
     *
     * `GET /api/v1/v1/webhooks`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only webhooks in this state */
      status?: "enabled" | "paused" | "disabled" | undefined;
    }, options?: CallOptions): PagePromise<Webhook>;
    /**
     * Register a webhook.
     *
     * It gets what happens from now on. Every request is signed: see docs/webhooks.md. The secret is in this answer only. A workspace may have 20 webhooks.
     *
     * `POST /api/v1/v1/webhooks`
     */
    create(input: {
      /** The URL that receives events */
      url: string;
      /** Types of events, such as email.bounced; email.* for all of a kind, * for all */
      events?: string[] | undefined;
      /** How events are written: mailsvc, or resend for a receiver that was written for Resend */
      format?: "mailsvc" | "resend" | undefined;
      /** For your own use */
      description?: string | undefined;
      /** Who gets a mail when the webhook is disabled */
      alertEmail?: string | undefined;
    }, options?: CallOptions): APIPromise<WebhookWithSecret>;
    /**
     * Get one webhook.
     *
     * `GET /api/v1/v1/webhooks/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Webhook>;
    /**
     * Change a webhook.
     *
     * What waits goes to the new URL. Other events count for what happens from now on; another format, for what waits too.
     *
     * `PATCH /api/v1/v1/webhooks/:id`
     */
    update(id: string, input?: {
      /** The URL that receives events */
      url?: string | undefined;
      /** Types of events, such as email.bounced; email.* for all of a kind, * for all */
      events?: string[] | undefined;
      /** How events are written: mailsvc, or resend for a receiver that was written for Resend */
      format?: "mailsvc" | "resend" | undefined;
      description?: string | null | undefined;
      alertEmail?: string | null | undefined;
    }, options?: CallOptions): APIPromise<Webhook>;
    /**
     * Delete a webhook, with everything that waits for it.
     *
     * `DELETE /api/v1/v1/webhooks/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Webhook>;
    /**
     * Pause a webhook.
     *
     * Events wait until it is resumed. Pausing twice changes nothing.
     *
     * `POST /api/v1/v1/webhooks/:id/pause`
     */
    pause(id: string, options?: CallOptions): APIPromise<Webhook>;
    /**
     * Resume a paused or disabled webhook.
     *
     * What waits goes out at once. A disabled webhook got no events meanwhile: `webhooks.redeliverSince` sends them.
     *
     * `POST /api/v1/v1/webhooks/:id/resume`
     */
    resume(id: string, options?: CallOptions): APIPromise<Webhook>;
    /**
     * Rotate the secret of a webhook.
     *
     * Add the new secret to your receiver next to the old one. Until the overlap ends, X-Service-Signature is made with the old secret, X-Service-Signature-Next with the new one, and webhook-signature holds a signature with each; afterwards only the new secret signs. Rotating again during the overlap replaces the new secret.
     *
     * `POST /api/v1/v1/webhooks/:id/rotate-secret`
     */
    rotateSecret(id: string, input?: {
      /** How long the old secret still signs; 0 to switch at once */
      overlapHours?: number | undefined;
    }, options?: CallOptions): APIPromise<WebhookWithSecret>;
    /**
     * Send webhook.test to a webhook.
     *
     * Signed like every event, in one attempt; answers what came of it, and changes nothing. Ten a minute.
     *
     * `POST /api/v1/v1/webhooks/:id/test`
     */
    test(id: string, options?: CallOptions): APIPromise<WebhookTest>;
    /**
     * List the events sent to a webhook, newest first.
     *
     * `GET /api/v1/v1/webhooks/:id/deliveries`
     */
    deliveries(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only deliveries in this state */
      state?: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled" | undefined;
      /** Only events of this type */
      type?: "email.queued" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.failed" | "email.suppressed" | "email.cancelled" | "email.rescheduled" | "email.received" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "contact.bounced" | "contact.complained" | "contact.tracked" | "list.joined" | "list.left" | "segment.entered" | "segment.left" | "suppression.added" | "suppression.removed" | "campaign.scheduled" | "campaign.started" | "campaign.paused" | "campaign.resumed" | "campaign.completed" | "campaign.cancelled" | "campaign.failed" | "automation.entered" | "automation.completed" | "automation.exited" | "automation.failed" | "automation.goal_reached" | "automation.webhook" | "domain.record_missing" | "domain.record_restored" | "mail.rate_high" | "webhook.test" | "webhook.disabled" | undefined;
      /** Only events of this email, by its id */
      email?: string | undefined;
    }, options?: CallOptions): PagePromise<WebhookDelivery>;
    /**
     * Show a delivery with its body and attempts.
     *
     * `GET /api/v1/v1/webhooks/:id/deliveries/:delivery`
     */
    delivery(id: string, delivery: string, options?: CallOptions): APIPromise<WebhookDeliveryDetail>;
    /**
     * Send an event again now.
     *
     * Under the same webhook-id, as one attempt of its own: it changes nothing in the plan of retries. An event that had not arrived counts as delivered when it does now.
     *
     * `POST /api/v1/v1/webhooks/:id/deliveries/:delivery/redeliver`
     */
    redeliver(id: string, delivery: string, options?: CallOptions): APIPromise<WebhookDeliveryDetail>;
    /**
     * Send all events since an instant that have not arrived.
     *
     * Also those that the webhook never got, because it was disabled or is new. With `all`, those that have arrived are sent again too. Runs in the background, as far back as events are kept. `count` says how many events that are, among the first 10,000 of the span.
     *
     * `POST /api/v1/v1/webhooks/:id/redeliver`
     */
    redeliverSince(id: string, input: {
      /** The first instant */
      since: string | Date;
      /** Only events before this instant */
      until?: string | Date | undefined;
      /** Also events that have arrived */
      all?: boolean | undefined;
    }, options?: CallOptions): APIPromise<WebhookRedelivery>;
  };
  /** Why an email, contact, campaign or webhook is in its state, and what to do */
  readonly explanations: {
    /**
     * Explain an object: its history, the reasons and what to do next.
     *
     * Takes the id of one of these: email, captured mail, received mail, event, agent event, contact, campaign, automation entry, webhook, webhook delivery, activation, run; the UUID that an object has below /resend; or the address or externalId of a contact. The key needs the permission to read it.
     *
     * `GET /api/v1/explain/:id`
     */
    get(id: string, input?: {
      /** Of an email to several recipients: only what concerns this address */
      recipient?: string | undefined;
      /** Of a run: its activation, if several have a run of this id */
      activation?: string | undefined;
    }, options?: CallOptions): APIPromise<Explanation>;
  };
  /** Check mail for what mail programs, filters and readers dislike */
  readonly lint: {
    /**
     * Check a mail for what mail programs, filters and readers dislike.
     *
     * Checks the HTML and text given, the draft of a template, or an email. Sends and stores nothing. `GET /api/v1/lint/rules` lists the rules.
     *
     * `POST /api/v1/lint`
     */
    check(input?: {
      /** HTML with Handlebars */
      html?: string | null | undefined;
      /** Plain text with Handlebars; generated from the HTML when absent */
      text?: string | null | undefined;
      /** Subject; may contain {{ variables }} */
      subject?: string | null | undefined;
      /** Calendar of an invitation: the content of icalEvent */
      calendar?: string | undefined;
      /** Its purpose; marketing needs an unsubscribe link. A template has one already */
      type?: "transactional" | "marketing" | undefined;
      /** Id or slug of a template, in place of html */
      template?: string | undefined;
      /** Id of an email, in place of html */
      email?: string | undefined;
      /** Mail programs that count; all by default */
      clients?: Array<"gmail-web" | "gmail-ios" | "gmail-android" | "outlook-windows" | "outlook-macos" | "outlook-web" | "outlook-ios" | "outlook-android" | "apple-mail-macos" | "apple-mail-ios" | "yahoo-web" | "yahoo-ios" | "yahoo-android" | "samsung-android" | "thunderbird" | "proton-web" | "fastmail-web" | "gmx-web"> | undefined;
      /** Turn rules off, or change their severity: off, warning or error */
      rules?: Record<string, "off" | "error" | "warning"> | undefined;
    }, options?: CallOptions): APIPromise<LintReport>;
    /**
     * List the rules by which mail is checked.
     *
     * `GET /api/v1/lint/rules`
     */
    rules(options?: CallOptions): APIPromise<{
      data: LintRule[];
    }>;
  };
  /** Captured mail of test keys: list, wait for, read */
  readonly testInbox: {
    /**
     * List captured mail of test keys, newest first.
     *
     * It is kept for 30 days.
     *
     * `GET /api/v1/test-inbox`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Recipient address, exactly */
      to?: string | undefined;
      /** Part of the From header */
      from?: string | undefined;
      /** Part of the subject */
      subject?: string | undefined;
      /** Only mail of emails with this tag: name=value */
      tag?: string | undefined;
      /** Part of the subject, an address or the body, in upper or lower case; looks through the newest 1,000 mails */
      text?: string | undefined;
    }, options?: CallOptions): PagePromise<CapturedMail>;
    /**
     * Wait for a matching mail of a test key and return it.
     *
     * Considers mail already captured, oldest first; with `after`, only mail captured after that one. Responds with 404 when the time is over. When the key is revoked, the waiting ends. Up to 50 requests of a workspace may wait at a time, on each server.
     *
     * `GET /api/v1/test-inbox/wait`
     */
    wait(input?: {
      /** Recipient address, exactly */
      to?: string | undefined;
      /** Part of the From header */
      from?: string | undefined;
      /** Part of the subject */
      subject?: string | undefined;
      /** Only mail of emails with this tag: name=value */
      tag?: string | undefined;
      /** Only mail captured after the one with this id; with now, only mail that is captured while this waits */
      after?: string | undefined;
      /** Only mail captured at this instant or later */
      since?: string | Date | undefined;
      /** Seconds of real time to wait, at most 120 */
      timeout?: number | undefined;
    }, options?: CallOptions): APIPromise<CapturedMailDetail>;
    /**
     * Get one captured mail of a test key, parsed.
     *
     * `GET /api/v1/test-inbox/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<CapturedMailDetail>;
    /**
     * Get the raw source of a captured mail of a test key.
     *
     * `GET /api/v1/test-inbox/:id/raw`
     */
    raw(id: string, options?: CallOptions): APIPromise<string>;
    /**
     * Delete one captured mail of a test key.
     *
     * `DELETE /api/v1/test-inbox/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<CapturedMail>;
    /**
     * Send a captured mail of a test key on to real addresses that the server allows.
     *
     * Needs a live key, and a server whose operator has set --release-relay and --release-to. Sends the message, unchanged but for Resent headers in front. `released` lists those for whom the mail server has accepted it.
     *
     * `POST /api/v1/test-inbox/:id/release`
     */
    release(id: string, input: {
      /** One address, or up to 5, which --release-to must allow */
      to: string | string[];
    }, options?: CallOptions): APIPromise<ReleasedMail>;
    /**
     * Delete all captured mail of test keys.
     *
     * `DELETE /api/v1/test-inbox`
     */
    clear(options?: CallOptions): APIPromise<{
      deleted: number;
    }>;
  };
  /** API keys */
  readonly keys: {
    /**
     * List API keys, newest first.
     *
     * `GET /api/v1/keys`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only revoked keys, or only live ones */
      revoked?: boolean | undefined;
    }, options?: CallOptions): PagePromise<Key>;
    /**
     * Get one API key.
     *
     * `GET /api/v1/keys/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Key>;
    /**
     * Create an API key.
     *
     * The key is shown only in this response. A key can grant only permissions it has itself, and one that is limited creates no keys. Limits cannot be changed later.
     *
     * `POST /api/v1/keys`
     */
    create(input: {
      /** What the key is for */
      name: string;
      /** Permissions of the key */
      permissions: Array<"contacts:read" | "contacts:write" | "campaigns:read" | "campaigns:write" | "templates:read" | "templates:write" | "automations:read" | "automations:write" | "transactional:send" | "transactional:read" | "mail_states:read" | "received:read" | "received:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "providers:read" | "providers:write" | "people:read" | "people:write" | "lists:read" | "lists:write" | "segments:read" | "segments:write" | "events:read" | "events:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "audit:read" | "jobs:read" | "jobs:write" | "listings:read" | "listings:write" | "marketplace:read" | "marketplace:write" | "brand:read" | "brand:write" | "billing:read" | "billing:write">;
      /** A test key: its mail is captured instead of sent, and it can change nothing else */
      test?: boolean | undefined;
      /** Instant from which the key is refused */
      expiresAt?: string | Date | undefined;
      /** Addresses and domains that the key may send from; it can have transactional:send and permissions to read */
      senders?: string[] | undefined;
      /** Networks that the key may be used from, as addresses or CIDR; behind a proxy, --trust-proxy must name it */
      networks?: string[] | undefined;
    }, options?: CallOptions): APIPromise<{
      id: string;
      name: string;
      permissions: Array<"contacts:read" | "contacts:write" | "campaigns:read" | "campaigns:write" | "templates:read" | "templates:write" | "automations:read" | "automations:write" | "transactional:send" | "transactional:read" | "mail_states:read" | "received:read" | "received:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "providers:read" | "providers:write" | "people:read" | "people:write" | "lists:read" | "lists:write" | "segments:read" | "segments:write" | "events:read" | "events:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "audit:read" | "jobs:read" | "jobs:write" | "listings:read" | "listings:write" | "marketplace:read" | "marketplace:write" | "brand:read" | "brand:write" | "billing:read" | "billing:write">;
      owner: boolean;
      test: boolean;
      preview: string;
      state: "active" | "expired" | "revoked";
      /** ISO 8601 instant */
      createdAt: string;
      revokedAt: string | null;
      lastUsedAt: string | null;
      expiresAt: string | null;
      senders: string[] | null;
      networks: string[] | null;
      /** The API key, shown only once */
      key: string;
    }>;
    /**
     * Rename an API key.
     *
     * What it may do stays as it is. A key cannot rename one that can do more than itself.
     *
     * `PATCH /api/v1/keys/:id`
     */
    update(id: string, input: {
      /** What the key is for */
      name: string;
    }, options?: CallOptions): APIPromise<Key>;
    /**
     * Revoke an API key permanently.
     *
     * Revoking it again changes nothing. A key cannot revoke one that can do more than itself. The last live owner key of a workspace cannot be revoked.
     *
     * `DELETE /api/v1/keys/:id`
     */
    revoke(id: string, options?: CallOptions): APIPromise<Key>;
  };
  /** Changes of settings and content: who, what, when */
  readonly audit: {
    /**
     * List changes of settings and content, newest first.
     *
     * Changes and who made them: keys, webhooks, senders, templates, campaigns, automations, lists, segments, forms, the brand, agents and, for the operator, workspaces, relays and the queue. Contacts, suppressions and mail have their own history in events. Entries are kept for as long as the server's --keep says.
     *
     * `GET /api/v1/audit`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only this operation, or all of a noun */
      action?: string | undefined;
      /** Only changes of the object with this id */
      object?: string | undefined;
      /** Only changes by this key, person or activation: its id or its name */
      actor?: string | undefined;
      /** Only changes at this instant or later */
      since?: string | Date | undefined;
      /** Only changes before this instant */
      until?: string | Date | undefined;
    }, options?: CallOptions): PagePromise<AuditEntry>;
  };
  /** People who may sign in to the dashboard: invite, remove, sign out */
  readonly members: {
    /**
     * List members, newest first.
     *
     * `GET /api/v1/members`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<Member>;
    /**
     * Get one member, by address or id.
     *
     * `GET /api/v1/members/:member`
     */
    get(member: string, options?: CallOptions): APIPromise<Member>;
    /**
     * Invite a person to the dashboard.
     *
     * They get a mail with a link that works once, within 24 hours. Later they ask for links, or use single sign-on. Inviting them again with the same role sends the mail again. A key can give only permissions it has itself.
     *
     * `POST /api/v1/members`
     */
    invite(input: {
      /** Address of the person, which is how they sign in */
      email: string;
      /** Role of the person: owner, marketer, viewer or support */
      role: "owner" | "marketer" | "viewer" | "support";
      /** The name that colleagues see */
      name?: string | undefined;
    }, options?: CallOptions): APIPromise<Member>;
    /**
     * Change the role of a member.
     *
     * With a role that may do less, their sessions end. A person cannot take the role of the last owner; an owner key can.
     *
     * `PATCH /api/v1/members/:member`
     */
    setRole(member: string, input: {
      /** Role of the person: owner, marketer, viewer or support */
      role: "owner" | "marketer" | "viewer" | "support";
    }, options?: CallOptions): APIPromise<Member>;
    /**
     * Remove a member, and end their sessions.
     *
     * Links that were mailed to them stop working, and single sign-on lets them in no more until they are invited again. A person cannot remove the last owner; an owner key can.
     *
     * `DELETE /api/v1/members/:member`
     */
    remove(member: string, options?: CallOptions): APIPromise<Member>;
    /**
     * Sign a member out of all browsers.
     *
     * Unused links that were mailed to them stop working, too. They stay a member.
     *
     * `DELETE /api/v1/members/:member/sessions`
     */
    signOut(member: string, options?: CallOptions): APIPromise<{
      ended: number;
    }>;
  };
  /** The dashboard: links to sign in, and the browsers that are signed in */
  readonly dashboard: {
    /**
     * Create a link that signs one browser in to the dashboard.
     *
     * It works once, within 15 minutes. The session has the permissions of the role that the key has, too, and ends when the key is revoked.
     *
     * `POST /api/v1/dashboard/links`
     */
    link(input?: {
      /** Rights of the person: everything the key may, campaigns and contacts, only look, or only states of mail */
      role?: "owner" | "marketer" | "viewer" | "support" | undefined;
      /** Name of the person, for the list of who is signed in */
      name?: string | undefined;
    }, options?: CallOptions): APIPromise<{
      /** The link, shown only once */
      url: string;
      role: "owner" | "marketer" | "viewer" | "support";
      name: string | null;
      /** ISO 8601 instant */
      expiresAt: string;
    }>;
    /**
     * List the browsers that are signed in, newest first.
     *
     * `GET /api/v1/dashboard/sessions`
     */
    sessions(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<DashboardSession>;
    /**
     * Sign a browser out.
     *
     * `DELETE /api/v1/dashboard/sessions/:id`
     */
    signOut(id: string, options?: CallOptions): APIPromise<DashboardSession>;
    /**
     * Sign the person of a browser out everywhere.
     *
     * Ends the sessions of the same member, or of the same name. Sessions by a link or a key without a name count as one person, if key and role are the same.
     *
     * `DELETE /api/v1/dashboard/sessions/:id/person`
     */
    signOutPerson(id: string, options?: CallOptions): APIPromise<{
      ended: number;
    }>;
    /**
     * Sign all browsers of the workspace out.
     *
     * Links that were not used yet stop working, too.
     *
     * `DELETE /api/v1/dashboard/sessions`
     */
    signOutAll(options?: CallOptions): APIPromise<{
      ended: number;
    }>;
  };
  /** Workspaces of this server, with the operator key */
  readonly workspaces: {
    /**
     * List workspaces, newest first.
     *
     * `GET /api/v1/workspaces`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<Workspace>;
    /**
     * Create a workspace.
     *
     * A workspace has its own keys, senders, contacts, mail, listings and activations; no other workspace can see them. Only its listings appear in the catalog of every workspace. The owner key is in this answer and nowhere else.
     *
     * `POST /api/v1/workspaces`
     */
    create(input: {
      /** Who the workspace belongs to */
      name: string;
    }, options?: CallOptions): APIPromise<{
      id: string;
      name: string;
      relay: string | null;
      replies: boolean;
      /** ISO 8601 instant */
      createdAt: string;
      /** The owner key of the workspace, shown this once */
      apiKey: string;
    }>;
    /**
     * Rename a workspace, name the relay of its mail, or receive the replies to it.
     *
     * `PATCH /api/v1/workspaces/:id`
     */
    update(id: string, input?: {
      /** Who the workspace belongs to */
      name?: string | undefined;
      /** Relay that takes its mail; null for none of its own */
      relay?: string | null | undefined;
      /** Receive the replies to all mail that has no replyTo of its own, as if it had auto */
      replies?: boolean | undefined;
    }, options?: CallOptions): APIPromise<Workspace>;
    /**
     * Export all data of a workspace, table by table.
     *
     * Everything stored of a workspace, except keys, secrets and their hashes, sessions, stored responses, and captured test mail. Files are in parts, in base64. Continue with `pagination.nextCursor` until it is null: a page may be short, or empty, before the last one.
     *
     * `GET /api/v1/workspaces/:id/export`
     */
    export(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor) */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<WorkspaceRow>;
    /**
     * Delete a workspace with everything in it.
     *
     * Cannot be undone. Its keys and sessions end with this call, and nothing of it is sent any more; its rows are deleted in the background. The first workspace of a server stays, and so does one whose agents are active in other workspaces: cancel its listings first. Its agents' activations in other workspaces stay there as they ended.
     *
     * `DELETE /api/v1/workspaces/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Workspace>;
  };
  /** Background jobs */
  readonly jobs: {
    /**
     * List background jobs: waiting, running, dead, or of a kind that this version does not know.
     *
     * `GET /api/v1/jobs`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only jobs in this state */
      state?: "ready" | "running" | "dead" | "unhandled" | undefined;
    }, options?: CallOptions): PagePromise<Job>;
    /**
     * Retry a dead job with a new set of attempts.
     *
     * `POST /api/v1/jobs/:id/retry`
     */
    retry(id: string, options?: CallOptions): APIPromise<Job>;
  };
  /** Pause all sending, hold single domains and requeue deferred emails, with the operator key */
  readonly queue: {
    /**
     * Show how much work waits, and whether sending is paused.
     *
     * `GET /api/v1/queue`
     */
    status(options?: CallOptions): APIPromise<QueueStatus>;
    /**
     * Pause all sending.
     *
     * No email of any workspace leaves until sending is resumed, also after a restart and on every server of the database. Emails are still accepted and wait. Those being handed over at this moment, a few dozen at most, still leave. Pausing again replaces the reason.
     *
     * `POST /api/v1/queue/pause`
     */
    pause(input?: {
      /** Shown wherever the pause is shown */
      reason?: string | undefined;
    }, options?: CallOptions): APIPromise<QueueStatus>;
    /**
     * Resume sending.
     *
     * What waits is sent, single emails before campaigns. Resuming when nothing is paused changes nothing.
     *
     * `POST /api/v1/queue/resume`
     */
    resume(options?: CallOptions): APIPromise<QueueStatus>;
    /**
     * Hold all emails to a domain.
     *
     * No email of any workspace to this domain leaves until it is released, also after a restart and on every server of the database. Emails are still accepted, keep their status and wait; they can be cancelled meanwhile. Those that were claimed at this moment, a few dozen at most, still leave. Holding again replaces the reason.
     *
     * `POST /api/v1/queue/hold`
     */
    hold(input: {
      /** The domain of the recipients; its subdomains are others */
      domain: string;
      /** Shown with the hold */
      reason?: string | undefined;
    }, options?: CallOptions): APIPromise<QueueStatus>;
    /**
     * Release the emails to a domain that was held.
     *
     * They are sent as bulk mail, after single emails. Releasing a domain that is not held changes nothing.
     *
     * `POST /api/v1/queue/release`
     */
    release(input: {
      /** The domain of the recipients; its subdomains are others */
      domain: string;
    }, options?: CallOptions): APIPromise<QueueStatus>;
    /**
     * Try deferred emails again now.
     *
     * Emails that wait for their next attempt after a temporary failure are tried at once, those of one domain or all. It runs in the background. The attempt counts as any other; scheduled emails and those of paused campaigns are left alone.
     *
     * `POST /api/v1/queue/requeue`
     */
    requeue(input?: {
      /** The domain of the recipients; its subdomains are others */
      domain?: string | undefined;
    }, options?: CallOptions): APIPromise<QueueStatus>;
  };
  /** Readers of the log of events: see how far they are, rebuild what they keep, with the operator key */
  readonly readers: {
    /**
     * List the readers of events: how far they are, and which cannot go on.
     *
     * `GET /api/v1/readers`
     */
    list(options?: CallOptions): APIPromise<{
      data: EventReader[];
    }>;
    /**
     * Rebuild what a reader keeps from the log of events.
     *
     * For `metrics` and `engagement`. Runs in the background and can be repeated. Starts no automations and sends no mail; segments are compared with their rules again. Days whose events the server may have deleted (`--keep`) stay as they are. For mail that was deleted, only the numbers of all mail are rebuilt.
     *
     * `POST /api/v1/readers/:name/rebuild`
     */
    rebuild(name: string, input?: {
      /** The first day, in UTC; by default the first one whose events are all in the log */
      from?: string | undefined;
    }, options?: CallOptions): APIPromise<ReaderRebuild>;
  };
  /** Mail servers that take this server's mail, with the operator key */
  readonly relays: {
    /**
     * List the mail servers that take this server's mail.
     *
     * `GET /api/v1/relays`
     */
    list(options?: CallOptions): APIPromise<{
      data: Relay[];
    }>;
    /**
     * Get one relay and its state.
     *
     * `GET /api/v1/relays/:name`
     */
    get(name: string, options?: CallOptions): APIPromise<Relay>;
    /**
     * Add a relay.
     *
     * Mail uses it once a workspace, sender or campaign names it, and all other mail if it is called default. Passwords, tokens and private keys are stored encrypted and are in no answer.
     *
     * `POST /api/v1/relays`
     */
    add(input: NewRelay, options?: CallOptions): APIPromise<Relay>;
    /**
     * Change a relay.
     *
     * Fields that are left out stay. Mail under way ends on the connections it has. Passwords, tokens and private keys are stored encrypted and are in no answer.
     *
     * `PATCH /api/v1/relays/:name`
     */
    update(name: string, input?: {
      /** Host name or address of the mail server */
      host?: string | undefined;
      /** Port; 587 unless said, with implicit TLS 465 */
      port?: number | undefined;
      /** Encryption: from the first byte (implicit), STARTTLS always or when offered, or off. A login needs it by default */
      tls?: "implicit" | "required" | "opportunistic" | "off" | undefined;
      /** Whether the certificate must be valid for the host; by default on all but this machine */
      verify?: boolean | undefined;
      /** User to log in as; with OAuth2 the mailbox */
      user?: string | null | undefined;
      /** Password of the user */
      password?: string | null | undefined;
      /** Log in with an access token of this service instead of a password */
      oauth?: "microsoft" | "google" | "custom" | null | undefined;
      /** Microsoft: the directory (tenant) id */
      tenant?: string | null | undefined;
      /** OAuth2: the id of the application */
      clientId?: string | null | undefined;
      /** OAuth2: the secret of the application */
      clientSecret?: string | null | undefined;
      /** OAuth2: for the refresh token grant; without it the client credentials grant is used */
      refreshToken?: string | null | undefined;
      /** OAuth2: what to ask for; known for Microsoft and Google */
      scope?: string | null | undefined;
      /** OAuth2: the token server; known for Microsoft and Google */
      tokenUrl?: string | null | undefined;
      /** Keys to sign with; null for those of --dkim, an empty list to sign nothing */
      dkim?: Array<{
        /** Domain name */
        domain: string;
        /** The name under _domainkey */
        selector: string;
        /** PEM */
        privateKey: string;
        /** The workspaces whose mail it signs, by id, or all; the workspace of the relay unless said, else the first one */
        workspaces?: "all" | string[] | undefined;
      }> | null | undefined;
      /** Mails per second at most, of all processes of the server together; null for no limit */
      ratePerSecond?: number | null | undefined;
      /** Connections at the same time; 5 unless said */
      connections?: number | undefined;
      /** Relays that take over while this one is out of service, in this order */
      fallback?: string[] | undefined;
      /** The only workspace whose mail may name it; null for every workspace */
      workspaceId?: string | null | undefined;
    }, options?: CallOptions): APIPromise<Relay>;
    /**
     * Remove a relay that nothing names.
     *
     * `DELETE /api/v1/relays/:name`
     */
    remove(name: string, options?: CallOptions): APIPromise<Relay>;
    /**
     * Connect to a relay and log in, and show each step.
     *
     * Sends nothing, unless `to` is given. The steps end at the first one that fails.
     *
     * `POST /api/v1/relays/:name/test`
     */
    test(name: string, input?: {
      /** Send a test mail to this address */
      to?: string | undefined;
      /** Sender of the test mail; by default that of --mail-from */
      from?: string | undefined;
    }, options?: CallOptions): APIPromise<{
      ok: boolean;
      relay: string;
      steps: RelayStep[];
    }>;
  };
  /** The key you call with and its workspace */
  readonly me: {
    /**
     * Show the current workspace, key and server.
     *
     * `GET /api/v1/me`
     */
    get(options?: CallOptions): APIPromise<{
      workspace: Workspace;
      key: Key;
      server: {
        version: string;
        dev: boolean;
        mailer: string;
        /** No mail leaves: there is no relay, and all of it is captured */
        capturesMail: boolean;
        /** Why delivery is paused, if it is */
        mailerFault: string | null;
        /** Since when an operator has paused all sending, if so */
        pausedAt: string | null;
        /** Jobs that wait because this version does not know their kind, counted up to 10,000 */
        unhandledJobs: number;
        /** Agents are offered here, so the dashboard and searches show them: a listing exists, the server is told so, or it is in dev mode */
        marketplace: boolean;
        /** ISO 8601 instant */
        now: string;
      };
    }>;
    /**
     * Connect to the relays that mail of this workspace may take, and log in.
     *
     * Sends nothing. Each relay has 20 seconds to answer. Checks of a relay within ten seconds share one connection and its result. Without a relay, the list is empty. Where the server has several workspaces, only its operator is told addresses.
     *
     * `GET /api/v1/me/relays`
     */
    checkRelays(options?: CallOptions): APIPromise<{
      /** False if a relay cannot be reached or refuses the login */
      ok: boolean;
      data: RelayCheck[];
    }>;
  };
  /** Health checks */
  readonly health: {
    /**
     * Check that the process is running (liveness).
     *
     * `GET /healthz`
     */
    live(options?: CallOptions): APIPromise<{
      status: "ok";
    }>;
    /**
     * Check that the server is ready: the database works and no shutdown is in progress.
     *
     * Without a key, and from a key of one of several workspaces, it says ready or not, and nothing else. The operator key, or any key of a server with one workspace, is told the rest.
     *
     * `GET /readyz`
     */
    ready(options?: CallOptions): APIPromise<{
      status: "ready";
      version?: string | undefined;
      /** True while an operator has paused all sending: emails are accepted and wait */
      sendingPaused?: boolean | undefined;
      /** The state of each relay in this process. Emails are accepted while one is out of service, and wait */
      relays?: Record<string, "up" | "down" | "paused"> | undefined;
      /** The ports at which this process takes mail to be sent over SMTP; none without --smtp-port */
      smtp?: Array<{
        port: number;
        /** starttls offers TLS, implicit begins with it */
        tls: "none" | "starttls" | "implicit";
        /** True while further connections are refused with 421 */
        full: boolean;
      }> | undefined;
      /** The last hundred messages that this process has received over SMTP, without those of servers that --inbound-trust names */
      inboundPeers?: {
        /** Messages from addresses of the Internet */
        public: number;
        /** Messages from addresses of private networks, which a gateway may have put in place of others */
        private: number;
      } | undefined;
      /** Jobs that wait because this version does not know their kind, counted up to 10,000 */
      unhandledJobs?: number | undefined;
      /** Readers of events that cannot go on in this process; they are tried again, and the others go on */
      failingReaders?: Array<{
        /** Its name: engagement, campaigns, automations or soft_bounces */
        reader: string;
        workspaceId: string;
        /** The time of its first failure */
        since: string;
        error: string;
      }> | undefined;
    }>;
    /**
     * Get this API as an OpenAPI 3.1 document.
     *
     * `GET /openapi.json`
     */
    openapi(options?: CallOptions): APIPromise<Record<string, unknown>>;
  };
  /** Captured mail: list, wait for, read */
  readonly inbox: {
    /**
     * List captured mail, newest first.
     *
     * `GET /__dev/inbox`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Recipient address, exactly */
      to?: string | undefined;
      /** Part of the From header */
      from?: string | undefined;
      /** Part of the subject */
      subject?: string | undefined;
      /** Only mail of this workspace, by its id or its name */
      workspace?: string | undefined;
      /** Only mail of emails with this tag: name=value */
      tag?: string | undefined;
      /** Part of the subject, an address or the body, in upper or lower case; looks through the newest 1,000 mails */
      text?: string | undefined;
    }, options?: CallOptions): PagePromise<CapturedMail>;
    /**
     * Wait for a matching mail and return it.
     *
     * Considers mail already captured, oldest first; with `after`, only mail captured after that one, with `after=now` only mail that comes from then on, with `since` only mail of that time. Responds with 404 when the time is over.
     *
     * `GET /__dev/inbox/wait`
     */
    wait(input?: {
      /** Recipient address, exactly */
      to?: string | undefined;
      /** Part of the From header */
      from?: string | undefined;
      /** Part of the subject */
      subject?: string | undefined;
      /** Only mail of this workspace, by its id or its name */
      workspace?: string | undefined;
      /** Only mail of emails with this tag: name=value */
      tag?: string | undefined;
      /** Only mail captured after the one with this id; with now, only mail that is captured while this waits */
      after?: string | undefined;
      /** Only mail captured at this instant or later */
      since?: string | Date | undefined;
      /** Seconds of real time to wait, at most 120 */
      timeout?: number | undefined;
    }, options?: CallOptions): APIPromise<CapturedMailDetail>;
    /**
     * Get one captured mail, parsed.
     *
     * `GET /__dev/inbox/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<CapturedMailDetail>;
    /**
     * Get the HTML part of a captured mail.
     *
     * `GET /__dev/inbox/:id/html`
     */
    html(id: string, options?: CallOptions): APIPromise<string>;
    /**
     * Get the text part of a captured mail.
     *
     * `GET /__dev/inbox/:id/text`
     */
    text(id: string, options?: CallOptions): APIPromise<string>;
    /**
     * Get the raw source of a captured mail.
     *
     * `GET /__dev/inbox/:id/raw`
     */
    raw(id: string, options?: CallOptions): APIPromise<string>;
    /**
     * Answer a captured mail as its recipient would.
     *
     * Writes a mail as the recipient's mail program would, with the captured one quoted, and receives it as if it came over SMTP. The mail must have been sent with replyTo auto, or from a domain whose mail is received.
     *
     * `POST /__dev/inbox/:id/reply`
     */
    reply(id: string, input: {
      /** What the recipient writes above the quotation */
      text: string;
      /** HTML body */
      html?: string | undefined;
      /** Files, up to 20 and 20 MiB in all */
      attachments?: Attachment[] | undefined;
      /** Write it as a program, such as a notice of absence */
      automatic?: boolean | undefined;
    }, options?: CallOptions): APIPromise<ReceivedMail>;
    /**
     * Report a captured mail as bounced or as spam, as its recipient's mail server would.
     *
     * The email is then bounced or complained, the address is suppressed, and events and webhooks follow, as they would in production. Only what was delivered can bounce.
     *
     * `POST /__dev/inbox/:id/report`
     */
    report(id: string, input: {
      /** What the mail server reports: no such mailbox, or spam */
      outcome: "bounced" | "complained";
    }, options?: CallOptions): APIPromise<CapturedMail>;
    /**
     * Delete one captured mail.
     *
     * `DELETE /__dev/inbox/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<CapturedMail>;
    /**
     * Send a captured mail on to real addresses that the server allows.
     *
     * Sends the message, unchanged but for Resent headers in front, through the mail server of --release-relay. Only the addresses in `to` get it, and --release-to must allow each of them. `released` lists those for whom the mail server has accepted it.
     *
     * `POST /__dev/inbox/:id/release`
     */
    release(id: string, input: {
      /** One address, or up to 5, which --release-to must allow */
      to: string | string[];
    }, options?: CallOptions): APIPromise<ReleasedMail>;
    /**
     * Delete all captured mail.
     *
     * `DELETE /__dev/inbox`
     */
    clear(options?: CallOptions): APIPromise<{
      deleted: number;
    }>;
  };
  /** Agents you offer: create listings, pay for them, rotate secrets */
  readonly listings: {
    /**
     * List your own agent listings, newest first.
     *
     * `GET /api/v1/marketplace/listings`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only listings in this state */
      state?: "DRAFT" | "LISTED" | "CANCELLED" | "EXPIRED" | undefined;
    }, options?: CallOptions): PagePromise<Listing>;
    /**
     * Create an agent listing as a draft.
     *
     * The response contains AGENT_WEBHOOK_SECRET, which signs every event. Store it; it is not shown again. The agent appears in the catalog once the listing is paid for.
     *
     * `POST /api/v1/marketplace/listings`
     */
    create(input: {
      /** Identifies the agent in the catalog and in commands; it cannot be changed */
      slug: string;
      /** Name in the catalog */
      name: string;
      /** What the agent does */
      description?: string | undefined;
      /** The URL that receives events */
      webhookUrl: string;
      /** Scopes the agent needs */
      permissions: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
      /** Addresses to which an install link may lead back, each in full */
      installRedirects?: string[] | undefined;
      /** Settings of a brand, in a small part of JSON Schema; null for nothing */
      settingsSchema?: SettingsSchema | null | undefined;
    }, options?: CallOptions): APIPromise<{
      id: string;
      slug: string;
      name: string;
      description: string;
      webhookUrl: string;
      permissions: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
      settingsSchema: SettingsSchema | null;
      installRedirects: string[];
      version: number;
      state: "DRAFT" | "LISTED" | "CANCELLED" | "EXPIRED";
      price: {
        amount: number;
        currency: string;
        interval: "month";
      };
      listedAt: string | null;
      expiresAt: string | null;
      endedAt: string | null;
      secretRotatesAt: string | null;
      /** ISO 8601 instant */
      createdAt: string;
      /** ISO 8601 instant */
      updatedAt: string;
      /** AGENT_WEBHOOK_SECRET, which signs every event; shown only once */
      webhookSecret: string;
    }>;
    /**
     * Show one of your listings.
     *
     * `GET /api/v1/marketplace/listings/:slug`
     */
    get(slug: string, options?: CallOptions): APIPromise<Listing>;
    /**
     * Update a listing.
     *
     * Pending events go to a new webhook URL from their next attempt on. A scope that is removed ends at once in every activation. One that is added is asked for: each brand accepts it or keeps what it accepted before.
     *
     * `PATCH /api/v1/marketplace/listings/:slug`
     */
    update(slug: string, input?: {
      /** Name in the catalog */
      name?: string | undefined;
      /** What the agent does */
      description?: string | undefined;
      /** The URL that receives events */
      webhookUrl?: string | undefined;
      /** Scopes the agent needs */
      permissions?: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups"> | undefined;
      /** Addresses to which an install link may lead back, each in full */
      installRedirects?: string[] | undefined;
      /** Settings of a brand, in a small part of JSON Schema; null for nothing */
      settingsSchema?: SettingsSchema | null | undefined;
    }, options?: CallOptions): APIPromise<Listing>;
    /**
     * Start paying for a listing.
     *
     * Open checkoutUrl to pay. The listing is LISTED once the payment is confirmed, which can be later than the end of the checkout.
     *
     * `POST /api/v1/marketplace/listings/:slug/checkout`
     */
    checkout(slug: string, options?: CallOptions): APIPromise<Payment>;
    /**
     * Take a listing out of the catalog at once.
     *
     * When this returns, every key of the agent is refused. Every activation gets agent.deactivated (admin_revoke). There is no grace period. Cancelling a cancelled listing changes nothing.
     *
     * `POST /api/v1/marketplace/listings/:slug/cancel`
     */
    cancel(slug: string, options?: CallOptions): APIPromise<Listing>;
    /**
     * Rotate the webhook secret.
     *
     * Add the new secret to your receiver next to the old one. Until the overlap ends, X-Service-Signature is made with the old secret, X-Service-Signature-Next with the new one, and webhook-signature holds a signature with each; afterwards only the new secret signs. Rotating again during the overlap replaces the new secret.
     *
     * `POST /api/v1/marketplace/listings/:slug/webhook-secret/rotate`
     */
    rotateSecret(slug: string, input?: {
      /** How long the old secret still signs; 0 to switch at once */
      overlapSeconds?: number | undefined;
    }, options?: CallOptions): APIPromise<{
      /** AGENT_WEBHOOK_SECRET, which signs every event; shown only once */
      webhookSecret: string;
      /** ISO 8601 instant */
      effectiveAt: string;
    }>;
    /**
     * List the activations of a listing, newest first.
     *
     * `GET /api/v1/marketplace/listings/:slug/activations`
     */
    activations(slug: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only activations in this state */
      status?: "active" | "paused" | "deactivated" | undefined;
    }, options?: CallOptions): PagePromise<ListingActivation>;
    /**
     * Clear the pause for a failing webhook.
     *
     * Clears webhook_failure, and tries the events again that could not be delivered. Other reasons stay in pauseReasons: the brand and its plan clear them.
     *
     * `POST /api/v1/marketplace/listings/:slug/activations/:id/resume`
     */
    resume(slug: string, id: string, options?: CallOptions): APIPromise<ListingActivation>;
  };
  /** Events sent to the webhooks of your agents */
  readonly deliveries: {
    /**
     * List the events for a listing's webhook, newest first.
     *
     * `GET /api/v1/marketplace/listings/:slug/deliveries`
     */
    list(slug: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only events in this state */
      state?: "pending" | "queued" | "delivered" | "dead" | "superseded" | "cancelled" | undefined;
      /** Only events of this type */
      type?: "agent.activated" | "approval_response" | "message.posted" | "agent.paused" | "agent.resumed" | "agent.deactivated" | "agent.scopes_changed" | "agent.settings_changed" | "run_force_failed" | "test.ping" | "agent.wakeup" | undefined;
      /** Only events of this activation */
      activationId?: string | undefined;
    }, options?: CallOptions): PagePromise<Delivery>;
    /**
     * Follow the events for a listing's webhook as they are written.
     *
     * Server-sent events: `id` is the id of the event, `data` the delivery as JSON, with the body that the webhook gets. A client that lost the connection continues after the id in Last-Event-ID; events of the last minute may come again, under their ids. Events of one activation come in their order. Connections count with those of `events.tail`.
     *
     * `GET /api/v1/marketplace/listings/:slug/deliveries/stream`
     */
    tail(slug: string, input?: {
      /** Begin after the event with this id, as far as events are kept; without it, with what happens next */
      after?: string | undefined;
      /** Only events of this type */
      type?: "agent.activated" | "approval_response" | "message.posted" | "agent.paused" | "agent.resumed" | "agent.deactivated" | "agent.scopes_changed" | "agent.settings_changed" | "run_force_failed" | "test.ping" | "agent.wakeup" | undefined;
      /** Give the key in agent.activated, where the agent is on in your own workspace and its webhook has not got it yet */
      keys?: boolean | undefined;
    }, options?: CallOptions): AsyncGenerator<DeliveryDetail, void, undefined>;
    /**
     * Show an event with its body and attempts.
     *
     * `GET /api/v1/marketplace/listings/:slug/deliveries/:id`
     */
    get(slug: string, id: string, options?: CallOptions): APIPromise<DeliveryDetail>;
    /**
     * Send an event again now.
     *
     * The same bytes under the same id, as one attempt of its own: it changes nothing in the plan of retries and never pauses anything. An event that had not arrived counts as delivered when it does now. agent.activated is not sent again once it has been acknowledged, and an event waits for older ones of its activation that are on their way.
     *
     * `POST /api/v1/marketplace/listings/:slug/deliveries/:id/redeliver`
     */
    redeliver(slug: string, id: string, options?: CallOptions): APIPromise<DeliveryDetail>;
    /**
     * Send everything now that a listing's webhook has missed.
     *
     * Events that are dead or wait for a retry get a fresh set of attempts, of which the first is due at once, and those behind them follow in their order. Activations that were paused because the webhook failed are resumed as `listings.resume` does it: agent.resumed comes first. With `since`, only activations with such an event since then. Ten a minute.
     *
     * `POST /api/v1/marketplace/listings/:slug/deliveries/recover`
     */
    recover(slug: string, input?: {
      /** Only what happened since this instant; all that is kept without it */
      since?: string | Date | undefined;
    }, options?: CallOptions): APIPromise<Recovery>;
    /**
     * Send test.ping to a listing's webhook.
     *
     * Signed like every event, in one attempt; answers what came of it. Works for drafts too. It changes no activation. Ten a minute.
     *
     * `POST /api/v1/marketplace/listings/:slug/test-webhook`
     */
    test(slug: string, options?: CallOptions): APIPromise<WebhookTest>;
  };
  /** Payments for listings */
  readonly payments: {
    /**
     * List payments of listings, newest first.
     *
     * `GET /api/v1/marketplace/payments`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only payments in this state */
      state?: "PENDING" | "PAID" | "FAILED" | "EXPIRED" | undefined;
    }, options?: CallOptions): PagePromise<Payment>;
    /**
     * Show one payment.
     *
     * `GET /api/v1/marketplace/payments/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Payment>;
    /**
     * Confirm a local payment.
     *
     * Only without a payment provider: replaces the provider's confirmation. Confirming a paid payment changes nothing.
     *
     * `POST /api/v1/marketplace/payments/:id/confirm`
     */
    confirm(id: string, options?: CallOptions): APIPromise<Payment>;
  };
  /** Agents you can activate */
  readonly catalog: {
    /**
     * List the agents in the catalog, newest first.
     *
     * `GET /api/v1/marketplace/catalog`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only agents with this text in their name or description */
      search?: string | undefined;
    }, options?: CallOptions): PagePromise<CatalogAgent>;
    /**
     * Show an agent in the catalog, with the scopes it asks for.
     *
     * `GET /api/v1/marketplace/catalog/:slug`
     */
    get(slug: string, options?: CallOptions): APIPromise<CatalogAgent>;
  };
  /** Agents that work for your brand */
  readonly activations: {
    /**
     * List the agents this workspace has turned on, newest first.
     *
     * `GET /api/v1/marketplace/activations`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only activations in this state */
      status?: "active" | "paused" | "deactivated" | undefined;
      /** Only activations of this agent */
      agentSlug?: string | undefined;
    }, options?: CallOptions): PagePromise<Activation>;
    /**
     * Turn an agent on.
     *
     * Names the scopes the brand accepts, which must be all that the agent asks for. Scopes it does not ask for are not granted. The agent gets its own key, through its webhook.
     *
     * `POST /api/v1/marketplace/activations`
     */
    create(input: {
      /** Slug of the agent in the catalog, or of a draft of your own, to try it */
      agentSlug: string;
      /** The scopes you accept: those the catalog shows for the agent */
      acceptedPermissions: Array<"landing_pages:write" | "landing_pages:read" | "lead_magnets:write" | "assets:write" | "brand:read" | "lists:read_metadata" | "agent:consume_credits" | "agent:post_messages" | "agent:read_messages" | "agent:read_runs" | "agent:write_runs" | "agent:wakeups">;
      /** Credits it may use in a month; null for no limit */
      creditLimit?: number | null | undefined;
      /** Values for the settings that the agent has, by their names */
      settings?: Record<string, unknown> | undefined;
    }, options?: CallOptions): APIPromise<Activation>;
    /**
     * Show one activation.
     *
     * `GET /api/v1/marketplace/activations/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Activation>;
    /**
     * Change the settings of an agent, or limit what it may spend.
     *
     * `settings` replaces all settings; those left out get their defaults. The agent is told with agent.settings_changed.
     *
     * `PATCH /api/v1/marketplace/activations/:id`
     */
    update(id: string, input?: {
      /** Credits it may use in a month; null for no limit */
      creditLimit?: number | null | undefined;
      /** Values for the settings that the agent has, by their names */
      settings?: Record<string, unknown> | undefined;
    }, options?: CallOptions): APIPromise<Activation>;
    /**
     * Accept what a newer version of an agent asks for.
     *
     * Grants all scopes of this version, in effect at once, and tells the agent with agent.scopes_changed. Name the version that you have seen: if the listing has changed since, nothing is granted and the answer is 409. Accepting it again changes nothing.
     *
     * `POST /api/v1/marketplace/activations/:id/accept`
     */
    accept(id: string, input: {
      /** The version you have seen, of update.version */
      version: number;
    }, options?: CallOptions): APIPromise<Activation>;
    /**
     * Keep what you accepted before.
     *
     * The agent goes on with the scopes it has, and you are not asked for these again. You can still accept them. If the listing has changed since the version that you name, the answer is 409.
     *
     * `POST /api/v1/marketplace/activations/:id/keep`
     */
    keep(id: string, input: {
      /** The version you have seen, of update.version */
      version: number;
    }, options?: CallOptions): APIPromise<Activation>;
    /**
     * Pause an agent.
     *
     * Its key is refused from now on, with `activation_paused`. Pausing a paused agent changes nothing.
     *
     * `POST /api/v1/marketplace/activations/:id/pause`
     */
    pause(id: string, options?: CallOptions): APIPromise<Activation>;
    /**
     * Resume a paused agent.
     *
     * Clears user_paused and webhook_failure. plan_downgrade is cleared by a plan that covers the agent: until then it stays in pauseReasons, and the agent stays paused. Once no reason is left, the same key works again. Events that could not be delivered are tried again.
     *
     * `POST /api/v1/marketplace/activations/:id/resume`
     */
    resume(id: string, options?: CallOptions): APIPromise<Activation>;
    /**
     * Turn an agent off for good.
     *
     * Its key is revoked for good and its runs are cancelled. Deactivating it again changes nothing.
     *
     * `POST /api/v1/marketplace/activations/:id/deactivate`
     */
    deactivate(id: string, options?: CallOptions): APIPromise<Activation>;
  };
  /** Approval requests of agents */
  readonly approvals: {
    /**
     * List approval requests of your agents, newest first.
     *
     * PENDING requests by default. Answer with POST /api/v1/marketplace/messages/:id/answer.
     *
     * `GET /api/v1/marketplace/approvals`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only requests in this state */
      status?: "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED" | "ANY" | undefined;
      /** Only messages of this activation */
      activationId?: string | undefined;
      /** Only messages of this agent */
      agentSlug?: string | undefined;
    }, options?: CallOptions): PagePromise<AgentMessage>;
    /**
     * Show an approval request, with the mail it proposes.
     *
     * A proposal is shown as it would be sent: rendered, with its lists and how many people it would reach.
     *
     * `GET /api/v1/marketplace/approvals/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<ApprovalDetail>;
  };
  /** Messages and questions of agents */
  readonly messages: {
    /**
     * List open requests and unread messages of all agents, newest first.
     *
     * Pending approval requests, and texts that are neither read nor replied to. `pagination.total` is their number. Answering, replying or marking as read removes them.
     *
     * `GET /api/v1/marketplace/messages`
     */
    inbox(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only texts or only approval requests */
      type?: "TEXT" | "APPROVAL_REQUEST" | undefined;
      /** Only messages of this activation */
      activationId?: string | undefined;
      /** Only messages of this agent */
      agentSlug?: string | undefined;
    }, options?: CallOptions): PagePromise<AgentMessage>;
    /**
     * List the messages between you and an agent, newest first.
     *
     * `GET /api/v1/marketplace/activations/:id/messages`
     */
    list(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only messages of this type */
      type?: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE" | undefined;
      /** inbound: to the agent; outbound: from it */
      direction?: "inbound" | "outbound" | undefined;
      /** Only approval requests in this state */
      status?: "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED" | undefined;
      /** Only messages of this run */
      runId?: string | undefined;
      /** Only messages from this time on */
      since?: string | Date | undefined;
      /** Only messages after this sequence, oldest first; use it to poll for new messages */
      afterSequence?: number | undefined;
    }, options?: CallOptions): PagePromise<Message>;
    /**
     * Send a message to an agent.
     *
     * `POST /api/v1/marketplace/activations/:id/messages`
     */
    create(id: string, input: {
      text: string;
      /** How the text is written */
      format?: "plain" | "markdown" | undefined;
      /** Id of the message it replies to, which is marked as read */
      inReplyTo?: string | undefined;
      /** The run it is about */
      runId?: string | undefined;
    }, options?: CallOptions): APIPromise<Message>;
    /**
     * Show one message.
     *
     * `GET /api/v1/marketplace/messages/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Message>;
    /**
     * Answer an approval request.
     *
     * The first answer counts. The agent gets an approval_response, and the run that waits for it continues. Approving a proposal creates what it proposes, with exactly the content that approvals.get shows, and needs the permission that creating it needs. A campaign is a draft, unless `create` is `send`.
     *
     * `POST /api/v1/marketplace/messages/:id/answer`
     */
    answer(id: string, input: {
      /** Id of one of its options, such as approve or reject */
      decision: string;
      /** For the agent; only if the request allows comments */
      comment?: string | undefined;
      /** The hash of the proposal that you approve, as approvals.get shows it */
      hash?: string | undefined;
      /** Make the proposed campaign a draft, or send it at once; draft by default */
      create?: "draft" | "send" | undefined;
      /** The verified sender of the proposed campaign */
      fromEmail?: string | undefined;
      /** Name of its sender */
      fromName?: string | undefined;
      /** Ids of the lists it goes to, instead of those that the agent suggests */
      lists?: string[] | undefined;
    }, options?: CallOptions): APIPromise<Message>;
    /**
     * Mark messages from an agent as read.
     *
     * `POST /api/v1/marketplace/activations/:id/messages/read`
     */
    read(id: string, input: {
      /** This message and all before it */
      upToSequence: number;
    }, options?: CallOptions): APIPromise<{
      /** Number of unread messages left */
      unread: number;
    }>;
  };
  /** Runs of agents and their logs */
  readonly runs: {
    /**
     * List the runs of an agent, newest first.
     *
     * `GET /api/v1/marketplace/activations/:id/runs`
     */
    list(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only runs in this state */
      status?: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED" | undefined;
      /** Only runs started from this time on */
      since?: string | Date | undefined;
    }, options?: CallOptions): PagePromise<Run>;
    /**
     * Show one run.
     *
     * `GET /api/v1/marketplace/activations/:id/runs/:runId`
     */
    get(id: string, runId: string, options?: CallOptions): APIPromise<Run>;
    /**
     * List the log entries of a run, newest first.
     *
     * `GET /api/v1/marketplace/activations/:id/runs/:runId/logs`
     */
    logs(id: string, runId: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only entries of this level */
      level?: "debug" | "info" | "warn" | "error" | undefined;
    }, options?: CallOptions): PagePromise<RunLogEntry>;
    /**
     * Cancel a run.
     *
     * Asks a RUNNING run to stop: its agent reads `cancelRequested` in the response to its next log. A WAITING run, and any run with `force`, is CANCELLED at once; later calls of its agent for it are refused. Cancelling again changes nothing.
     *
     * `POST /api/v1/marketplace/activations/:id/runs/:runId/cancel`
     */
    cancel(id: string, runId: string, input?: {
      /** Cancel at once, without waiting for the agent */
      force?: boolean | undefined;
    }, options?: CallOptions): APIPromise<Run>;
  };
  /** Credits your agents spend */
  readonly credits: {
    /**
     * Show the credit balance.
     *
     * `GET /api/v1/marketplace/credits`
     */
    get(options?: CallOptions): APIPromise<{
      balance: number;
    }>;
    /**
     * Add credits.
     *
     * `POST /api/v1/marketplace/credits`
     */
    grant(input: {
      /** Number of credits */
      amount: number;
      /** What they are for, up to 200 characters */
      description?: string | undefined;
      /** With the operator key: the workspace it is for, if the server has several */
      workspaceId?: string | undefined;
    }, options?: CallOptions): APIPromise<CreditEntry>;
    /**
     * List ledger entries, newest first.
     *
     * `GET /api/v1/marketplace/credits/entries`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only entries of this activation */
      activationId?: string | undefined;
      /** Only entries of this kind */
      kind?: "grant" | "consume" | "refund" | undefined;
    }, options?: CallOptions): PagePromise<CreditEntry>;
  };
  /** Your plan and the agents it covers */
  readonly plans: {
    /**
     * List the plans and what each covers.
     *
     * `GET /api/v1/marketplace/plans`
     */
    list(options?: CallOptions): APIPromise<{
      data: Array<{
        plan: "none" | "free" | "starter" | "growth" | "scale";
        covers: number | null;
        summary: string;
      }>;
    }>;
    /**
     * Show the plan of the workspace.
     *
     * `GET /api/v1/marketplace/plan`
     */
    get(options?: CallOptions): APIPromise<Plan>;
    /**
     * Preview a change of plan.
     *
     * `GET /api/v1/marketplace/plan/preview`
     */
    preview(input: {
      /** The plan to change to */
      plan: "none" | "free" | "starter" | "growth" | "scale";
    }, options?: CallOptions): APIPromise<{
      paused: string[];
      resumed: string[];
      deactivated: string[];
    }>;
    /**
     * Change the plan of the workspace.
     *
     * The newest agents lose their cover first. They are paused (`plan_downgrade`), resumed when a plan covers them again, and deactivated after 30 days without cover. `none` deactivates all agents at once.
     *
     * `POST /api/v1/marketplace/plan`
     */
    change(input: {
      /** The plan to change to */
      plan: "none" | "free" | "starter" | "growth" | "scale";
      /** With the operator key: the workspace it is for, if the server has several */
      workspaceId?: string | undefined;
    }, options?: CallOptions): APIPromise<{
      plan: "none" | "free" | "starter" | "growth" | "scale";
      covers: number | null;
      used: number;
      changedAt: string | null;
      change: {
        paused: string[];
        resumed: string[];
        deactivated: string[];
      };
    }>;
  };
  /** Colors, logo and voice of your brand */
  readonly brand: {
    /**
     * Show the brand's colors, logo, voice and rules.
     *
     * `GET /api/v1/marketplace/brand`
     */
    get(options?: CallOptions): APIPromise<BrandSettings>;
    /**
     * Update the brand's colors, logo, voice and rules.
     *
     * Updates the given fields, also within colors, fonts and voice. Agents with brand:read see everything except the rules, so do not include personal data.
     *
     * `PATCH /api/v1/marketplace/brand`
     */
    update(input?: {
      /** Name of the brand, up to 200 characters */
      name?: string | undefined;
      /** Address of the website */
      website?: string | null | undefined;
      /** Id of an asset */
      logoAssetId?: string | null | undefined;
      /** Colors as #rrggbb: {primary, secondary, accent, background, text} */
      colors?: {
        primary?: string | null | undefined;
        secondary?: string | null | undefined;
        accent?: string | null | undefined;
        background?: string | null | undefined;
        text?: string | null | undefined;
      } | undefined;
      /** Names of fonts: {heading, body} */
      fonts?: {
        heading?: string | null | undefined;
        body?: string | null | undefined;
      } | undefined;
      /** How the brand speaks: {tone, description, dos, donts} */
      voice?: {
        tone?: string[] | undefined;
        description?: string | undefined;
        dos?: string[] | undefined;
        donts?: string[] | undefined;
      } | undefined;
      /** Language and region, such as en or de-CH; null leaves the language of pages to their readers */
      locale?: string | null | undefined;
      /** Own texts for recipients, by language and name: {"de": {"unsubscribe": "Abbestellen"}}; null restores the one of this server (docs/languages.md) */
      texts?: Record<string, {
        unnamedSender?: string | null | undefined;
        language?: string | null | undefined;
        emailAddress?: string | null | undefined;
        firstName?: string | null | undefined;
        lastName?: string | null | undefined;
        phone?: string | null | undefined;
        unsubscribe?: string | null | undefined;
        stopQuestion?: string | null | undefined;
        enterAddress?: string | null | undefined;
        unsubscribedTitle?: string | null | undefined;
        unsubscribedText?: string | null | undefined;
        mistake?: string | null | undefined;
        subscribeAgain?: string | null | undefined;
        resubscribedTitle?: string | null | undefined;
        resubscribedText?: string | null | undefined;
        preferencesTitle?: string | null | undefined;
        preferencesQuestion?: string | null | undefined;
        lists?: string | null | undefined;
        savePreferences?: string | null | undefined;
        stopAll?: string | null | undefined;
        unsubscribeAll?: string | null | undefined;
        savedTitle?: string | null | undefined;
        savedNone?: string | null | undefined;
        savedSome?: string | {
          zero?: string | undefined;
          one?: string | undefined;
          two?: string | undefined;
          few?: string | undefined;
          many?: string | undefined;
          other: string;
        } | null | undefined;
        changeMore?: string | null | undefined;
        confirmSubject?: string | null | undefined;
        confirmTitle?: string | null | undefined;
        confirmText?: string | null | undefined;
        confirmButton?: string | null | undefined;
        confirmQuestion?: string | null | undefined;
        ignoreEmail?: string | null | undefined;
        closePage?: string | null | undefined;
        subscribedTitle?: string | null | undefined;
        subscribedText?: string | null | undefined;
        expiresInDays?: string | {
          zero?: string | undefined;
          one?: string | undefined;
          two?: string | undefined;
          few?: string | undefined;
          many?: string | undefined;
          other: string;
        } | null | undefined;
        senderSubject?: string | null | undefined;
        senderTitle?: string | null | undefined;
        senderText?: string | null | undefined;
        senderButton?: string | null | undefined;
        senderNote?: string | null | undefined;
        senderQuestion?: string | null | undefined;
        senderConfirmedTitle?: string | null | undefined;
        senderConfirmedText?: string | null | undefined;
        somebodyAt?: string | null | undefined;
        signUp?: string | null | undefined;
        leaveEmpty?: string | null | undefined;
        consent?: string | null | undefined;
        thanksTitle?: string | null | undefined;
        thanksDone?: string | null | undefined;
        thanksAlmost?: string | null | undefined;
        thanksConfirm?: string | null | undefined;
        download?: string | null | undefined;
        wrongEmail?: string | null | undefined;
        wrongTooLong?: string | null | undefined;
        wrongLine?: string | null | undefined;
        wrongTwice?: string | null | undefined;
        wrongConsent?: string | null | undefined;
        linkTitle?: string | null | undefined;
        linkIncomplete?: string | null | undefined;
        linkConfirm?: string | null | undefined;
        linkDownload?: string | null | undefined;
        linkSender?: string | null | undefined;
        mailTitle?: string | null | undefined;
        mailText?: string | null | undefined;
        notFoundTitle?: string | null | undefined;
        notFoundText?: string | null | undefined;
        tooLargeTitle?: string | null | undefined;
        tooLargeText?: string | null | undefined;
        waitTitle?: string | null | undefined;
        waitText?: string | null | undefined;
        unavailableTitle?: string | null | undefined;
        unavailableText?: string | null | undefined;
        errorTitle?: string | null | undefined;
        errorText?: string | null | undefined;
        reference?: string | null | undefined;
      } | null> | undefined;
      /** Time zone, such as Europe/Zurich */
      timezone?: string | undefined;
      /** Whether an agent may publish a page only after your approval */
      publishNeedsApproval?: boolean | undefined;
    }, options?: CallOptions): APIPromise<BrandSettings>;
  };
  /** Landing pages of your agents: publish, statistics, sign-ups */
  readonly landingPages: {
    /**
     * List the landing pages of agents, newest first.
     *
     * `GET /api/v1/marketplace/landing-pages`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only pages in this state */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** Only pages of this activation */
      activationId?: string | undefined;
    }, options?: CallOptions): PagePromise<LandingPageSummary>;
    /**
     * Show one landing page.
     *
     * `GET /api/v1/marketplace/landing-pages/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Publish a landing page.
     *
     * Needs no approval, since the brand itself publishes it.
     *
     * `POST /api/v1/marketplace/landing-pages/:id/publish`
     */
    publish(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Unpublish a landing page.
     *
     * `POST /api/v1/marketplace/landing-pages/:id/unpublish`
     */
    unpublish(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Delete a landing page and its statistics; its contacts stay.
     *
     * `DELETE /api/v1/marketplace/landing-pages/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Show the statistics of a landing page.
     *
     * `GET /api/v1/marketplace/landing-pages/:id/stats`
     */
    stats(id: string, input?: {
      /** First day, UTC; by default 29 days before `to` */
      from?: string | undefined;
      /** Last day, UTC; today by default */
      to?: string | undefined;
      /** Length of each period */
      granularity?: "day" | undefined;
    }, options?: CallOptions): APIPromise<LandingPageStats>;
    /**
     * List the sign-ups of a landing page with their consent, newest first.
     *
     * `GET /api/v1/marketplace/landing-pages/:id/submissions`
     */
    submissions(id: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<LandingPageSubmission>;
  };
  /** Files that subscribers download */
  readonly leadMagnets: {
    /**
     * List lead magnets, newest first.
     *
     * `GET /api/v1/marketplace/lead-magnets`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<LeadMagnet>;
    /**
     * Upload a lead magnet.
     *
     * PDF, EPUB, ZIP, DOCX, PNG, JPEG, MP3 or MP4 of up to 25 MB; the type is detected from the content. Also accepts multipart/form-data with the file in `file`.
     *
     * `POST /api/v1/marketplace/lead-magnets`
     */
    create(input: FileUpload<{
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Title that visitors see, up to 200 characters */
      title: string;
      /** What it contains, up to 2,000 characters */
      description?: string | null | undefined;
    }>, options?: CallOptions): APIPromise<LeadMagnet>;
    /**
     * Show one lead magnet, with a download link that works for one hour.
     *
     * `GET /api/v1/marketplace/lead-magnets/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<LeadMagnet>;
    /**
     * Delete a lead magnet.
     *
     * Its download links stop working. Landing pages that offered it stay published without it.
     *
     * `DELETE /api/v1/marketplace/lead-magnets/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<LeadMagnet>;
  };
  /** The image library of your brand */
  readonly assets: {
    /**
     * List the images of the asset library, newest first.
     *
     * `GET /api/v1/marketplace/assets`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<Asset>;
    /**
     * Upload an image to the asset library.
     *
     * PNG, JPEG, GIF or WebP of up to 5 MB and 40 million pixels; the type is detected from the content. Also accepts multipart/form-data with the file in `file`. The same image again returns the stored one, with 200; of the other fields only an `alt` is added, if it had none.
     *
     * `POST /api/v1/marketplace/assets`
     */
    create(input: FileUpload<{
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Alternative text for the image */
      alt?: string | null | undefined;
      /** Words to find it by, up to 10 */
      tags?: string[] | undefined;
      /** Your own id for it */
      externalId?: string | null | undefined;
    }>, options?: CallOptions): APIPromise<Asset>;
    /**
     * Show one image of the asset library.
     *
     * `GET /api/v1/marketplace/assets/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Asset>;
    /**
     * Delete an image.
     *
     * It no longer shows in pages and emails that use it.
     *
     * `DELETE /api/v1/marketplace/assets/:id`
     */
    delete(id: string, options?: CallOptions): APIPromise<Asset>;
  };
  /** The server's clock: freeze, advance, jump to the next timer */
  readonly clock: {
    /**
     * Show the time and the next timer.
     *
     * `GET /__dev/clock`
     */
    show(options?: CallOptions): APIPromise<ClockState>;
    /**
     * Stop the clock, now or at a given later instant.
     *
     * `POST /__dev/clock/freeze`
     */
    freeze(input?: {
      /** Instant to stop at; not before now */
      at?: string | Date | undefined;
    }, options?: CallOptions): APIPromise<ClockState>;
    /**
     * Advance the clock, running everything that falls due on the way, in order.
     *
     * The response comes when all of that is done, which may take minutes.
     *
     * `POST /__dev/clock/advance`
     */
    advance(input?: {
      /** How far, e.g. 15m */
      by?: string | undefined;
      /** Until this instant */
      to?: string | Date | undefined;
    }, options?: CallOptions): APIPromise<ClockState>;
    /**
     * Jump to the next timer and run it.
     *
     * `POST /__dev/clock/next`
     */
    next(options?: CallOptions): APIPromise<ClockState>;
    /**
     * Let the clock run again from its current time.
     *
     * `POST /__dev/clock/thaw`
     */
    thaw(options?: CallOptions): APIPromise<ClockState>;
  };
  /** Reset the dev server, or save and restore snapshots of it */
  readonly world: {
    /**
     * Delete everything but the seeded workspaces and their keys.
     *
     * `POST /__dev/reset`
     */
    reset(options?: CallOptions): APIPromise<{
      reset: true;
    }>;
    /**
     * List snapshots.
     *
     * `GET /__dev/snapshots`
     */
    snapshots(options?: CallOptions): APIPromise<{
      data: Snapshot[];
    }>;
    /**
     * Save the state of the server as a snapshot.
     *
     * `POST /__dev/snapshot`
     */
    snapshot(input: {
      /** Name of the snapshot */
      name: string;
    }, options?: CallOptions): APIPromise<Snapshot>;
    /**
     * Restore a snapshot.
     *
     * `POST /__dev/restore`
     */
    restore(input: {
      /** Name of the snapshot */
      name: string;
    }, options?: CallOptions): APIPromise<Snapshot>;
  };
  /** Make requests fail on purpose */
  readonly faults: {
    /**
     * List fault rules and how often each has been applied.
     *
     * `GET /__dev/faults`
     */
    list(options?: CallOptions): APIPromise<{
      data: Fault[];
    }>;
    /**
     * Inject faults: any documented error, a delay or a closed connection; over SMTP any reply.
     *
     * The response header X-Mailsvc-Fault has the id of the rule that was applied. With smtp, steps of SMTP conversations fail: those of programs with this server, or with `on` delivery those of this server with the mail server behind it, so that deferrals, retries and bounces follow.
     *
     * `POST /__dev/faults`
     */
    add(input?: {
      /** Fail this step of SMTP conversations instead of requests */
      smtp?: "connect" | "ehlo" | "auth" | "mail" | "rcpt" | "data" | "end-of-data" | undefined;
      /** With smtp: mail that programs submit to this server over SMTP (the default), or mail that it hands over for delivery */
      on?: "submission" | "delivery" | undefined;
      /** With smtp: only this recipient, sender (mail) or user name (auth); * matches anything, e.g. *@example.com */
      address?: string | undefined;
      /** Only this method */
      method?: "GET" | "POST" | "PATCH" | "DELETE" | undefined;
      /** Path; * matches anything, e.g. /api/v1/emails/* */
      path?: string | undefined;
      /** Answer with this error; with smtp, a reply code such as 452 */
      code?: "validation_error" | "sender_not_verified" | "recipient_suppressed" | "batch_refused" | "email_suppressed" | "missing_variables" | "template_error" | "idempotency_key_required" | "unauthorized" | "key_revoked" | "key_expired" | "invalid_signature" | "insufficient_credits" | "plan_limit_reached" | "forbidden" | "activation_paused" | "not_found" | "dev_only" | "template_not_found" | "method_not_allowed" | "conflict" | "already_active" | "id_reused" | "limit_reached" | "already_refunded" | "duplicate_contact" | "slug_taken" | "approval_required" | "storage_quota_exceeded" | "pause_not_clearable" | "invalid_state" | "idempotency_key_reused" | "idempotency_in_progress" | "version_mismatch" | "request_timeout" | "expectation_failed" | "headers_too_large" | "payload_too_large" | "unsupported_media_type" | "unsupported_file_type" | "type_mismatch" | "corrupt_file" | "rate_limited" | "internal_error" | "queue_failed" | "not_implemented" | "payment_provider_error" | "not_ready" | "storage_unavailable" | number | undefined;
      /** With smtp: enhanced status code of the reply, e.g. 4.2.2 (default: the usual one of the code) */
      enhancedCode?: string | undefined;
      /** With smtp: text of the reply */
      text?: string | undefined;
      /** Close the connection instead of responding */
      drop?: boolean | undefined;
      /** Fail before the work, or after it is done */
      when?: "before" | "after" | undefined;
      /** Wait this long (real time) first */
      delayMs?: number | undefined;
      /** Let this many matching requests through first */
      skip?: number | undefined;
      /** Apply to this many requests, then stop */
      count?: number | undefined;
      /** Share of matching requests to apply to, 0 to 1 */
      rate?: number | undefined;
      /** Seed of the random numbers behind rate */
      seed?: number | undefined;
    }, options?: CallOptions): APIPromise<Fault>;
    /**
     * Remove all fault rules.
     *
     * `DELETE /__dev/faults`
     */
    clear(options?: CallOptions): APIPromise<{
      deleted: number;
    }>;
  };
}

/** The methods of `AgentClient`, by noun and verb, each for a scope of the key. */
export interface AgentMethods {
  readonly self: {
    /**
     * Show the activation the key belongs to.
     *
     * `GET /api/agents/activations/:activationId`
     */
    get(options?: CallOptions): APIPromise<AgentSelf>;
  };
  /** Messages and questions of agents */
  readonly messages: {
    /**
     * List the messages of the activation, newest first.
     *
     * With `afterSequence`, oldest first: repeat the request with the last sequence you saw to get every new message.
     *
     * `GET /api/agents/activations/:activationId/messages`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only messages of this type */
      type?: "TEXT" | "APPROVAL_REQUEST" | "APPROVAL_RESPONSE" | undefined;
      /** inbound: to the agent; outbound: from it */
      direction?: "inbound" | "outbound" | undefined;
      /** Only approval requests in this state */
      status?: "PENDING" | "APPROVED" | "REJECTED" | "ANSWERED" | "EXPIRED" | "CANCELLED" | undefined;
      /** Only messages of this run */
      runId?: string | undefined;
      /** Only messages from this time on */
      since?: string | Date | undefined;
      /** Only messages after this sequence, oldest first; use it to poll for new messages */
      afterSequence?: number | undefined;
    }, options?: CallOptions): PagePromise<Message>;
    /**
     * Show one message.
     *
     * `GET /api/agents/activations/:activationId/messages/:messageId`
     */
    get(messageId: string, options?: CallOptions): APIPromise<Message>;
    /**
     * Post a message, or ask for an approval.
     *
     * At most 20 a minute. The answer to an APPROVAL_REQUEST arrives as an approval_response event and as a message. The run that asks is WAITING until then, and RUNNING after the answer. Repeating a request with the same externalId returns the posted message, with 200.
     *
     * `POST /api/agents/activations/:activationId/messages`
     */
    create(input: {
      /** A text, or a request for approval */
      type?: "TEXT" | "APPROVAL_REQUEST" | undefined;
      text: string;
      /** How the text is written */
      format?: "plain" | "markdown" | undefined;
      /** The run it belongs to */
      runId?: string | undefined;
      /** Your own id for the message, unique per activation */
      externalId?: string | undefined;
      /** The question of an APPROVAL_REQUEST */
      approval?: {
        title: string;
        /** The options of the brand; approve and reject by default, whose labels and styles are the service's */
        options?: Array<{
          id: string;
          /** The words on the button; those of approve and reject are the service's */
          label?: string | undefined;
          style?: "primary" | "danger" | undefined;
        }> | undefined;
        allowComment?: boolean | undefined;
        /** What the request is about */
        preview?: {
          kind: "landing_page" | "lead_magnet" | "asset";
          id: string;
        } | {
          kind: "text";
          text: string;
        } | undefined;
        /** A campaign or template to create when the brand approves; without preview and options of your own */
        proposal?: {
          kind: "campaign";
          name: string;
          /** Subject line, up to 998 characters */
          subject: string;
          /** HTML body */
          html?: string | undefined;
          /** Plain-text body */
          text?: string | undefined;
          previewText?: string | undefined;
          /** Ids of the lists to suggest */
          lists?: string[] | undefined;
        } | {
          kind: "template";
          name: string;
          /** Subject line, up to 998 characters */
          subject: string;
          /** HTML body */
          html?: string | undefined;
          /** Plain-text body */
          text?: string | undefined;
          type?: "marketing" | "transactional" | undefined;
        } | undefined;
        /** Expires after this many seconds without an answer; a week by default */
        expiresInSeconds?: number | undefined;
        /** The run is WAITING until the answer and needs no heartbeat; with false it goes on and must log */
        suspendRun?: boolean | undefined;
      } | undefined;
    }, options?: CallOptions): APIPromise<Message>;
    /**
     * Cancel an approval request.
     *
     * Cancelling it again changes nothing.
     *
     * `POST /api/agents/activations/:activationId/messages/:messageId/cancel`
     */
    cancel(messageId: string, input?: Record<never, never>, options?: CallOptions): APIPromise<Message>;
    /**
     * Mark messages from the brand as read.
     *
     * `POST /api/agents/activations/:activationId/messages/read`
     */
    read(input: {
      /** This message and all before it */
      upToSequence: number;
    }, options?: CallOptions): APIPromise<{
      /** Number of unread messages left */
      unread: number;
    }>;
  };
  /** Runs of agents and their logs */
  readonly runs: {
    /**
     * Start a run.
     *
     * The start is the first heartbeat: a run that does not log for 15 minutes fails. With your own runId, repeating the request returns the same run, with 200, also after it has ended. At most 20 runs can be RUNNING or WAITING at a time.
     *
     * `POST /api/agents/activations/:activationId/runs/start`
     */
    start(input?: {
      /** Your own id for the run; generated by default */
      runId?: string | undefined;
      /** What the run does, up to 200 characters */
      title?: string | undefined;
      /** What started the run */
      trigger?: {
        type: "manual" | "activation" | "approval" | "wakeup" | "schedule" | "message";
        /** Its trigger, e.g. the id of a message */
        ref?: string | undefined;
      } | undefined;
      /** The parent run */
      parentRunId?: string | undefined;
      /** Your own data, up to 4 KiB of JSON */
      metadata?: Record<string, unknown> | undefined;
    }, options?: CallOptions): APIPromise<StartedRun>;
    /**
     * Log to a run, and send its heartbeat.
     *
     * Entries are optional. At most 60 calls a minute for each run. A WAITING run is RUNNING afterwards, unless `waiting` says otherwise. With `seq`, your own counter that increases with each call, a repeat is recognized and its entries are not stored twice.
     *
     * `POST /api/agents/activations/:activationId/runs/log`
     */
    log(input: {
      /** Id of the run */
      runId: string;
      /** Up to 50 of {message, level, data, at} */
      entries?: Array<{
        level?: "debug" | "info" | "warn" | "error" | undefined;
        message: string;
        data?: unknown;
        /** When it happened; shown, but never used to decide anything */
        at?: string | Date | undefined;
      }> | undefined;
      /** Progress: {percent, label} */
      progress?: {
        percent: number;
        label?: string | undefined;
      } | undefined;
      /** What you need to continue after a crash, up to 16 KiB of JSON */
      checkpoint?: unknown;
      /** The run does nothing until what it asked for is answered: while that is open, it is WAITING afterwards */
      waiting?: boolean | undefined;
      /** Your counter of log calls of this run */
      seq?: number | undefined;
    }, options?: CallOptions): APIPromise<Heartbeat>;
    /**
     * End a run.
     *
     * Repeating the request returns the ended run. With another summary, output, error or metrics it answers `invalid_state`: the first result counts.
     *
     * `POST /api/agents/activations/:activationId/runs/complete`
     */
    complete(input: {
      /** Id of the run */
      runId: string;
      /** How it ended */
      status?: "COMPLETED" | "FAILED" | undefined;
      /** The result, for people */
      summary?: string | undefined;
      /** The result, up to 32 KiB of JSON */
      output?: unknown;
      /** Why it failed: {code, message} */
      error?: {
        code: string;
        message: string;
      } | undefined;
      /** Numbers by name */
      metrics?: Record<string, number> | undefined;
    }, options?: CallOptions): APIPromise<Run>;
    /**
     * End a run as failed.
     *
     * `POST /api/agents/activations/:activationId/runs/fail`
     */
    fail(input: {
      /** Id of the run */
      runId: string;
      /** Why it failed: {code, message} */
      error: {
        code: string;
        message: string;
      };
      /** The result, for people */
      summary?: string | undefined;
      /** The result, up to 32 KiB of JSON */
      output?: unknown;
      /** Numbers by name */
      metrics?: Record<string, number> | undefined;
    }, options?: CallOptions): APIPromise<Run>;
    /**
     * Cancel a run.
     *
     * `POST /api/agents/activations/:activationId/runs/cancel`
     */
    cancel(input: {
      /** Id of the run */
      runId: string;
      /** The result, for people */
      summary?: string | undefined;
    }, options?: CallOptions): APIPromise<Run>;
    /**
     * List the agent's runs, newest first.
     *
     * `GET /api/agents/activations/:activationId/runs`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only runs in this state */
      status?: "RUNNING" | "WAITING" | "COMPLETED" | "FAILED" | "CANCELLED" | undefined;
      /** Only runs started from this time on */
      since?: string | Date | undefined;
    }, options?: CallOptions): PagePromise<Run>;
    /**
     * Show one run, with its checkpoint.
     *
     * `GET /api/agents/activations/:activationId/runs/:runId`
     */
    get(runId: string, options?: CallOptions): APIPromise<RunDetail>;
    /**
     * List the log entries of a run, newest first.
     *
     * `GET /api/agents/activations/:activationId/runs/:runId/logs`
     */
    logs(runId: string, input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only entries of this level */
      level?: "debug" | "info" | "warn" | "error" | undefined;
    }, options?: CallOptions): PagePromise<RunLogEntry>;
  };
  /** Credits your agents spend */
  readonly credits: {
    /**
     * Show the balance and the monthly limit.
     *
     * `GET /api/agents/activations/:activationId/credits`
     */
    get(options?: CallOptions): APIPromise<AgentCredits>;
    /**
     * List the agent's transactions, newest first.
     *
     * `GET /api/agents/activations/:activationId/credits/transactions`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only transactions of this run */
      runId?: string | undefined;
    }, options?: CallOptions): PagePromise<CreditTransaction>;
    /**
     * Spend credits on a billable action.
     *
     * Requires an Idempotency-Key, so that a retry does not spend twice. The balance never becomes negative.
     *
     * `POST /api/agents/activations/:activationId/credits/consume`
     */
    consume(input: {
      /** Number of credits */
      amount: number;
      /** What they are spent on */
      action: string;
      /** The run that spends them */
      runId?: string | undefined;
      /** What was done, up to 200 characters */
      description?: string | undefined;
      /** What was measured, e.g. {"words": 400} */
      units?: unknown;
    }, options?: CallOptions): APIPromise<CreditTransaction>;
    /**
     * Refund a transaction.
     *
     * Possible within 24 hours, in one or several parts, up to the amount spent.
     *
     * `POST /api/agents/activations/:activationId/credits/:transactionId/refund`
     */
    refund(transactionId: string, input: {
      /** Number of credits; by default all that is left of the transaction */
      amount?: number | undefined;
      /** Reason for the refund */
      reason: string;
    }, options?: CallOptions): APIPromise<CreditTransaction>;
  };
  readonly wakeups: {
    /**
     * Schedule a wakeup.
     *
     * Sends agent.wakeup to your webhook at that time; while the agent is paused, after it is resumed. At most 100 can be scheduled. Repeating a request while its dedupeKey is scheduled returns that wakeup, with 200; another request with it answers id_reused.
     *
     * `POST /api/agents/activations/:activationId/wakeups`
     */
    create(input: {
      /** Seconds from now: 10 to 2592000, which is 30 days */
      delaySeconds?: number | undefined;
      /** Instead of delaySeconds: a time 10 seconds to 30 days from now */
      runAt?: string | Date | undefined;
      /** Why; included in the event */
      reason: string;
      /** Your own data, included in the event; up to 4 KiB of JSON */
      payload?: unknown;
      /** The run it belongs to */
      runId?: string | undefined;
      /** Your own id: one wakeup with it can be scheduled at a time */
      dedupeKey?: string | undefined;
      /** The run is WAITING until then and needs no heartbeat */
      suspendRun?: boolean | undefined;
    }, options?: CallOptions): APIPromise<Wakeup>;
    /**
     * List wakeups, newest first.
     *
     * `GET /api/agents/activations/:activationId/wakeups`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only wakeups in this state */
      status?: "SCHEDULED" | "FIRED" | "CANCELLED" | "SKIPPED" | undefined;
    }, options?: CallOptions): PagePromise<Wakeup>;
    /**
     * Show one wakeup.
     *
     * `GET /api/agents/activations/:activationId/wakeups/:wakeupId`
     */
    get(wakeupId: string, options?: CallOptions): APIPromise<Wakeup>;
    /**
     * Cancel a wakeup.
     *
     * Cancelling twice is harmless.
     *
     * `DELETE /api/agents/activations/:activationId/wakeups/:wakeupId`
     */
    cancel(wakeupId: string, options?: CallOptions): APIPromise<Wakeup>;
  };
  /** Landing pages of your agents: publish, statistics, sign-ups */
  readonly landingPages: {
    /**
     * List this agent's pages and all published pages of the brand, newest first.
     *
     * `GET /api/agents/activations/:activationId/landing-pages`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
      /** Only pages in this state */
      status?: "DRAFT" | "PUBLISHED" | undefined;
    }, options?: CallOptions): PagePromise<LandingPageSummary>;
    /**
     * Create a landing page.
     *
     * Set html or blocks, not both. HTML is sanitized; `removed` lists what was removed. If the brand requires it, a page can be published only after the brand approved an APPROVAL_REQUEST whose preview names the page.
     *
     * `POST /api/agents/activations/:activationId/landing-pages`
     */
    create(input: {
      /** Title, up to 200 characters */
      title: string;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      html?: string | null | undefined;
      blocks?: Array<{
        type: "heading";
        text: string;
        level?: number | undefined;
      } | {
        type: "text";
        text: string;
      } | {
        type: "image";
        /** Id of an asset */
        assetId: string;
        alt: string;
        caption?: string | undefined;
      } | {
        type: "list";
        items: string[];
        ordered?: boolean | undefined;
      } | {
        type: "quote";
        text: string;
        by?: string | undefined;
      } | {
        type: "button";
        label: string;
        href: string;
      } | {
        type: "divider";
      } | {
        type: "form";
      }> | null | undefined;
      /** What search engines and link previews show */
      seo?: {
        title?: string | undefined;
        description?: string | undefined;
        /** Id of an asset */
        ogAssetId?: string | undefined;
      } | null | undefined;
      /** The sign-up form; also added when leadMagnetId or listId is set */
      form?: {
        /** Heading of the form */
        title?: string | undefined;
        /** Fields besides the email address */
        fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
        /** Names of the fields, by field */
        labels?: {
          email?: string | undefined;
          firstName?: string | undefined;
          lastName?: string | undefined;
          phone?: string | undefined;
        } | undefined;
        /** Text of the button */
        button?: string | undefined;
        /** Text that visitors agree to by submitting the form; stored with each sign-up */
        consentText?: string | undefined;
        /** Visitors must tick a box next to the consent text */
        consentCheckbox?: boolean | undefined;
        /** Heading of the page that follows */
        thanksTitle?: string | undefined;
        /** Text of the page that follows */
        thanksText?: string | undefined;
      } | null | undefined;
      /** The lead magnet offered for signing up */
      leadMagnetId?: string | null | undefined;
      /** The brand's list that visitors join by signing up */
      listId?: string | null | undefined;
      /** State of the page */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** The run that created it */
      runId?: string | undefined;
    }, options?: CallOptions): APIPromise<WrittenLandingPage>;
    /**
     * Show one landing page.
     *
     * `GET /api/agents/activations/:activationId/landing-pages/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Update the given fields of a landing page of this agent.
     *
     * With `version`, or an If-Match header such as "3", the update fails with 412 if the page has changed since that version. A new html replaces blocks, and vice versa.
     *
     * `PATCH /api/agents/activations/:activationId/landing-pages/:id`
     */
    update(id: string, input?: {
      /** Title, up to 200 characters */
      title?: string | undefined;
      /** Part of the address; unique in the workspace. Derived from the title by default */
      slug?: string | undefined;
      html?: string | null | undefined;
      blocks?: Array<{
        type: "heading";
        text: string;
        level?: number | undefined;
      } | {
        type: "text";
        text: string;
      } | {
        type: "image";
        /** Id of an asset */
        assetId: string;
        alt: string;
        caption?: string | undefined;
      } | {
        type: "list";
        items: string[];
        ordered?: boolean | undefined;
      } | {
        type: "quote";
        text: string;
        by?: string | undefined;
      } | {
        type: "button";
        label: string;
        href: string;
      } | {
        type: "divider";
      } | {
        type: "form";
      }> | null | undefined;
      /** What search engines and link previews show */
      seo?: {
        title?: string | undefined;
        description?: string | undefined;
        /** Id of an asset */
        ogAssetId?: string | undefined;
      } | null | undefined;
      /** The sign-up form; also added when leadMagnetId or listId is set */
      form?: {
        /** Heading of the form */
        title?: string | undefined;
        /** Fields besides the email address */
        fields?: Array<"firstName" | "lastName" | "phone"> | undefined;
        /** Names of the fields, by field */
        labels?: {
          email?: string | undefined;
          firstName?: string | undefined;
          lastName?: string | undefined;
          phone?: string | undefined;
        } | undefined;
        /** Text of the button */
        button?: string | undefined;
        /** Text that visitors agree to by submitting the form; stored with each sign-up */
        consentText?: string | undefined;
        /** Visitors must tick a box next to the consent text */
        consentCheckbox?: boolean | undefined;
        /** Heading of the page that follows */
        thanksTitle?: string | undefined;
        /** Text of the page that follows */
        thanksText?: string | undefined;
      } | null | undefined;
      /** The lead magnet offered for signing up */
      leadMagnetId?: string | null | undefined;
      /** The brand's list that visitors join by signing up */
      listId?: string | null | undefined;
      /** State of the page */
      status?: "DRAFT" | "PUBLISHED" | undefined;
      /** The run that changed it */
      runId?: string | undefined;
      /** The version you read; a newer one answers 412 */
      version?: number | undefined;
    }, options?: CallOptions): APIPromise<WrittenLandingPage>;
    /**
     * Publish a landing page of this agent.
     *
     * Publishing a published page changes nothing.
     *
     * `POST /api/agents/activations/:activationId/landing-pages/:id/publish`
     */
    publish(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Unpublish a landing page of this agent.
     *
     * `POST /api/agents/activations/:activationId/landing-pages/:id/unpublish`
     */
    unpublish(id: string, options?: CallOptions): APIPromise<LandingPage>;
    /**
     * Show the statistics of a landing page.
     *
     * `GET /api/agents/activations/:activationId/landing-pages/:id/stats`
     */
    stats(id: string, input?: {
      /** First day, UTC; by default 29 days before `to` */
      from?: string | undefined;
      /** Last day, UTC; today by default */
      to?: string | undefined;
      /** Length of each period */
      granularity?: "day" | undefined;
    }, options?: CallOptions): APIPromise<LandingPageStats>;
  };
  /** Files that subscribers download */
  readonly leadMagnets: {
    /**
     * Upload a lead magnet.
     *
     * PDF, EPUB, ZIP, DOCX, PNG, JPEG, MP3 or MP4 of up to 25 MB; the type is detected from the content. Also accepts multipart/form-data with the file in `file`.
     *
     * `POST /api/agents/activations/:activationId/lead-magnets`
     */
    create(input: FileUpload<{
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Title that visitors see, up to 200 characters */
      title: string;
      /** What it contains, up to 2,000 characters */
      description?: string | null | undefined;
      /** The run that created it */
      runId?: string | undefined;
    }>, options?: CallOptions): APIPromise<LeadMagnet>;
    /**
     * Update the title or description of a lead magnet this agent uploaded.
     *
     * `PATCH /api/agents/activations/:activationId/lead-magnets/:id`
     */
    update(id: string, input?: {
      /** Title that visitors see, up to 200 characters */
      title?: string | undefined;
      /** What it contains, up to 2,000 characters */
      description?: string | null | undefined;
    }, options?: CallOptions): APIPromise<LeadMagnet>;
  };
  /** The image library of your brand */
  readonly assets: {
    /**
     * Upload an image to the brand's asset library.
     *
     * PNG, JPEG, GIF or WebP of up to 5 MB and 40 million pixels; the type is detected from the content. Also accepts multipart/form-data with the file in `file`. The same image again returns the stored one, with 200; of the other fields only an `alt` is added, if it had none.
     *
     * `POST /api/agents/activations/:activationId/assets`
     */
    create(input: FileUpload<{
      /** Name of the file; folders in it are removed */
      fileName: string;
      /** The file in base64 */
      contentBase64: string;
      /** Media type of the file; must match its content */
      contentType?: string | undefined;
      /** Alternative text for the image */
      alt?: string | null | undefined;
      /** Words to find it by, up to 10 */
      tags?: string[] | undefined;
      /** Your own id for it */
      externalId?: string | null | undefined;
    }>, options?: CallOptions): APIPromise<Asset>;
  };
  /** Colors, logo and voice of your brand */
  readonly brand: {
    /**
     * Show the brand's colors, logo and voice.
     *
     * `GET /api/agents/activations/:activationId/brand`
     */
    get(options?: CallOptions): APIPromise<Brand>;
  };
  /** Lists of contacts, with double opt-in */
  readonly lists: {
    /**
     * List the names and sizes of the brand's lists, newest first.
     *
     * `GET /api/agents/activations/:activationId/lists`
     */
    list(input?: {
      /** Page number, from 1; a page behind the end is empty */
      page?: number | undefined;
      /** Items per page, 1 to 100 */
      limit?: number | undefined;
      /** Continue after this cursor (pagination.nextCursor); replaces page */
      cursor?: string | undefined;
    }, options?: CallOptions): PagePromise<ListMetadata>;
    /**
     * Show the name and size of one list.
     *
     * `GET /api/agents/activations/:activationId/lists/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<ListMetadata>;
  };
  /** Why an email, contact, campaign or webhook is in its state, and what to do */
  readonly explanations: {
    /**
     * Explain your activation or one of its runs.
     *
     * A run needs the scope `agent:read_runs`.
     *
     * `GET /api/agents/activations/:activationId/explain/:id`
     */
    get(id: string, options?: CallOptions): APIPromise<Explanation>;
  };
}
