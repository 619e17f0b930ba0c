CREATE TABLE "activations" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"listing_id" text COLLATE "C" NOT NULL,
	"period" integer NOT NULL,
	"living" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"pause_reasons" json NOT NULL,
	"scopes" json NOT NULL,
	"accepted_version" integer NOT NULL,
	"kept_version" integer,
	"kept_at" bigint,
	"settings" json NOT NULL,
	"key_hash" text COLLATE "C" NOT NULL,
	"key_preview" text COLLATE "C" NOT NULL,
	"key_delivered_at" bigint,
	"sequence" integer NOT NULL,
	"last_event_at" bigint NOT NULL,
	"message_sequence" integer NOT NULL,
	"webhook_last_error" json,
	"uncovered_at" bigint,
	"credit_limit" integer,
	"credits_used" integer NOT NULL,
	"credits_reset_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"paused_at" bigint,
	"deactivated_at" bigint,
	"deactivation_reason" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "approvals" (
	"message_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"activation_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C",
	"title" text COLLATE "C" NOT NULL,
	"options" json NOT NULL,
	"allow_comment" boolean NOT NULL,
	"preview" json,
	"allows" text COLLATE "C",
	"proposal" json,
	"suspend_run" boolean NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"decision" text COLLATE "C",
	"comment" text COLLATE "C",
	"answered_at" bigint,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "assets" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"activation_id" text COLLATE "C",
	"sha256" text COLLATE "C" NOT NULL,
	"file_name" text COLLATE "C" NOT NULL,
	"content_type" text COLLATE "C" NOT NULL,
	"size" integer NOT NULL,
	"width" integer NOT NULL,
	"height" integer NOT NULL,
	"alt" text COLLATE "C",
	"tags" json NOT NULL,
	"external_id" text COLLATE "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attachment_parts" (
	"contents_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"part" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachment_parts_contents_id_position_part_pk" PRIMARY KEY("contents_id","position","part")
);
--> statement-breakpoint
CREATE TABLE "attachments" (
	"contents_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"filename" text COLLATE "C" NOT NULL,
	"content_type" text COLLATE "C" NOT NULL,
	"content_id" text COLLATE "C",
	"size" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachments_contents_id_position_pk" PRIMARY KEY("contents_id","position")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C",
	"at" bigint NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"actor_kind" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C",
	"actor_name" text COLLATE "C",
	"object_id" text COLLATE "C",
	"object_name" text COLLATE "C",
	"changes" json NOT NULL,
	"request_id" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "automation_contacts" (
	"automation_id" text COLLATE "C" NOT NULL,
	"contact_id" text COLLATE "C" NOT NULL,
	"entry_id" text COLLATE "C" NOT NULL,
	"entered_at" bigint NOT NULL,
	"inside" boolean NOT NULL,
	CONSTRAINT "automation_contacts_automation_id_contact_id_pk" PRIMARY KEY("automation_id","contact_id")
);
--> statement-breakpoint
CREATE TABLE "automation_entries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"automation_id" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"contact_id" text COLLATE "C" NOT NULL,
	"contact_seq" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C",
	"step_id" text COLLATE "C",
	"due_at" bigint,
	"waiting_in" text COLLATE "C",
	"waits_for" text COLLATE "C",
	"waits_after" bigint,
	"met" boolean,
	"event" json,
	"failures" integer DEFAULT 0 NOT NULL,
	"moves" integer NOT NULL,
	"entered_at" bigint NOT NULL,
	"entered_after" bigint NOT NULL,
	"ended_at" bigint,
	"ended_after" bigint,
	"goal_reached_at" bigint,
	"revenue" bigint,
	"goal_revenue" bigint
);
--> statement-breakpoint
CREATE TABLE "automation_moves" (
	"entry_id" text COLLATE "C" NOT NULL,
	"move" integer NOT NULL,
	"step_id" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C",
	"branch" text COLLATE "C",
	"email_id" text COLLATE "C",
	CONSTRAINT "automation_moves_entry_id_move_pk" PRIMARY KEY("entry_id","move")
);
--> statement-breakpoint
CREATE TABLE "automation_revenue" (
	"automation_id" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"revenue" bigint NOT NULL,
	"goal_revenue" bigint NOT NULL,
	CONSTRAINT "automation_revenue_automation_id_part_pk" PRIMARY KEY("automation_id","part")
);
--> statement-breakpoint
CREATE TABLE "automation_versions" (
	"automation_id" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"steps" json NOT NULL,
	"connections" json NOT NULL,
	"templates" json,
	"created_at" bigint NOT NULL,
	CONSTRAINT "automation_versions_automation_id_version_pk" PRIMARY KEY("automation_id","version")
);
--> statement-breakpoint
CREATE TABLE "automations" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"trigger_on" json NOT NULL,
	"next_date_at" bigint,
	"trigger_key" text COLLATE "C" NOT NULL,
	"goal" json,
	"goal_key" text COLLATE "C",
	"listens_after" bigint,
	"currency" text COLLATE "C" DEFAULT 'USD' NOT NULL,
	"version" integer NOT NULL,
	"allow_re_entry" boolean NOT NULL,
	"re_entry_delay_hours" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"archived_at" bigint,
	"deleted_at" bigint
);
--> statement-breakpoint
CREATE TABLE "brands" (
	"workspace_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"website" text COLLATE "C",
	"logo_asset_id" text COLLATE "C",
	"colors" json NOT NULL,
	"fonts" json NOT NULL,
	"voice" json NOT NULL,
	"locale" text COLLATE "C",
	"texts" json NOT NULL,
	"timezone" text COLLATE "C" NOT NULL,
	"publish_needs_approval" boolean NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "campaign_audience" (
	"campaign_id" text COLLATE "C" NOT NULL,
	"last" bigint NOT NULL,
	"seqs" text COLLATE "C" NOT NULL,
	CONSTRAINT "campaign_audience_campaign_id_last_pk" PRIMARY KEY("campaign_id","last")
);
--> statement-breakpoint
CREATE TABLE "campaign_contents" (
	"campaign_id" text COLLATE "C" NOT NULL,
	"variant" text COLLATE "C" NOT NULL,
	"contents_id" bigint NOT NULL,
	"preview_text" text COLLATE "C",
	"source" json NOT NULL,
	"hash" text COLLATE "C",
	CONSTRAINT "campaign_contents_campaign_id_variant_pk" PRIMARY KEY("campaign_id","variant")
);
--> statement-breakpoint
CREATE TABLE "campaign_link_clicks" (
	"campaign_id" text COLLATE "C" NOT NULL,
	"link" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "campaign_link_clicks_campaign_id_link_email_id_pk" PRIMARY KEY("campaign_id","link","email_id")
);
--> statement-breakpoint
CREATE TABLE "campaign_links" (
	"campaign_id" text COLLATE "C" NOT NULL,
	"link" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"clicks" integer NOT NULL,
	"unique_clicks" integer NOT NULL,
	"machine_clicks" integer NOT NULL,
	CONSTRAINT "campaign_links_campaign_id_link_part_pk" PRIMARY KEY("campaign_id","link","part")
);
--> statement-breakpoint
CREATE TABLE "campaign_reactions" (
	"campaign_id" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	"opened_at" bigint,
	"clicked_at" bigint,
	"unsubscribed_at" bigint,
	CONSTRAINT "campaign_reactions_campaign_id_email_id_pk" PRIMARY KEY("campaign_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "campaigns" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"subject_line" text COLLATE "C" NOT NULL,
	"from_email" text COLLATE "C" NOT NULL,
	"from_name" text COLLATE "C",
	"reply_to" json,
	"preview_text" text COLLATE "C",
	"template_id" text COLLATE "C",
	"html" text COLLATE "C",
	"text_body" text COLLATE "C",
	"blocks" json,
	"recipient_type" text COLLATE "C" NOT NULL,
	"segment_id" text COLLATE "C",
	"list_id" text COLLATE "C",
	"include" json NOT NULL,
	"exclude" json NOT NULL,
	"resend_of" json,
	"status" text COLLATE "C" NOT NULL,
	"status_reason" json,
	"scheduled_at" bigint,
	"relay" text COLLATE "C",
	"throttle" json,
	"local_time" json,
	"ab_test" json,
	"winner" text COLLATE "C",
	"track_opens" boolean NOT NULL,
	"track_clicks" boolean NOT NULL,
	"utm" json,
	"proposed_by" json,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"started_at" bigint,
	"completed_at" bigint,
	"run" integer NOT NULL,
	"audience" integer,
	"cursor" bigint NOT NULL,
	"eligible" integer NOT NULL,
	"expanded_at" bigint,
	"next_release_at" bigint,
	"released_at" bigint,
	"decide_at" bigint
);
--> statement-breakpoint
CREATE TABLE "contact_action_kinds" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contact_actions" (
	"event_key" bigint PRIMARY KEY NOT NULL,
	"contact_seq" bigint NOT NULL,
	"kind" bigint NOT NULL,
	"at" bigint NOT NULL,
	"value" double precision,
	"campaign_id" text COLLATE "C",
	"template" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "contact_counts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"tag_key" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"block" integer NOT NULL,
	"delta" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contact_import_results" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"import_seq" bigint NOT NULL,
	"created" integer NOT NULL,
	"updated" integer NOT NULL,
	"unchanged" integer NOT NULL,
	"skipped" integer NOT NULL,
	"failed" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contact_import_rows" (
	"import_seq" bigint NOT NULL,
	"contact_seq" bigint NOT NULL,
	"created" boolean NOT NULL,
	"before_values" json NOT NULL,
	"after_values" json NOT NULL,
	"said_no" boolean NOT NULL,
	"suppression_id" text COLLATE "C",
	"list_id" text COLLATE "C",
	CONSTRAINT "contact_import_rows_import_seq_contact_seq_pk" PRIMARY KEY("import_seq","contact_seq")
);
--> statement-breakpoint
CREATE TABLE "contact_imports" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"tag" text COLLATE "C",
	"file" text COLLATE "C",
	"state" text COLLATE "C" NOT NULL,
	"kept" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"undone_at" bigint
);
--> statement-breakpoint
CREATE TABLE "contact_properties" (
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"fallback" text COLLATE "C",
	"created_at" bigint NOT NULL,
	CONSTRAINT "contact_properties_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE TABLE "contact_tags" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"tag_key" text COLLATE "C" NOT NULL,
	"contact_seq" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	CONSTRAINT "contact_tags_workspace_id_tag_key_contact_seq_pk" PRIMARY KEY("workspace_id","tag_key","contact_seq")
);
--> statement-breakpoint
CREATE TABLE "contacts" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"email_key" text COLLATE "C" NOT NULL,
	"external_id" text COLLATE "C",
	"first_name" text COLLATE "C",
	"last_name" text COLLATE "C",
	"phone" text COLLATE "C",
	"language" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"tags" json NOT NULL,
	"custom_fields" json NOT NULL,
	"search_text" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contents" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"from_text" text COLLATE "C" NOT NULL,
	"reply_to" json,
	"subject" text COLLATE "C" NOT NULL,
	"html" text COLLATE "C",
	"text_body" text COLLATE "C",
	"headers" json NOT NULL,
	"tags" json NOT NULL,
	"attachments" integer NOT NULL,
	"files_of" bigint,
	"template" text COLLATE "C",
	"automation_id" text COLLATE "C",
	"bypass_unsubscribe" boolean DEFAULT false NOT NULL,
	"tracking" json,
	"traceparent" text COLLATE "C",
	"addressees" json,
	"thread_id" text COLLATE "C",
	"as_is" boolean,
	"message_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "tallies" (
	"owner" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "tallies_owner_kind_part_pk" PRIMARY KEY("owner","kind","part")
);
--> statement-breakpoint
CREATE TABLE "credit_balances" (
	"workspace_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"balance" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "credit_entries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"activation_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"kind" text COLLATE "C" NOT NULL,
	"amount" integer NOT NULL,
	"balance_after" integer NOT NULL,
	"action" text COLLATE "C",
	"description" text COLLATE "C",
	"units" json,
	"refund_of" text COLLATE "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_links" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C",
	"role" text COLLATE "C",
	"person_name" text COLLATE "C",
	"member_id" text COLLATE "C",
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"way" text COLLATE "C" NOT NULL,
	"person_name" text COLLATE "C",
	"member_id" text COLLATE "C",
	"operator_hash" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "developer_webhooks" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"events" json NOT NULL,
	"format" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"alert_email" text COLLATE "C",
	"secret" "bytea" NOT NULL,
	"next_secret" "bytea",
	"next_secret_at" bigint,
	"failing_since" bigint,
	"last_error" json,
	"position" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "email_labels" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "email_labels_workspace_id_label_email_id_pk" PRIMARY KEY("workspace_id","label","email_id")
);
--> statement-breakpoint
CREATE TABLE "emails" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"contents_id" bigint NOT NULL,
	"to_text" text COLLATE "C" NOT NULL,
	"to_key" text COLLATE "C" NOT NULL,
	"to_name" text COLLATE "C",
	"mail_id" text COLLATE "C",
	"kind" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"in_doubt" boolean NOT NULL,
	"last_error" json,
	"created_at" bigint NOT NULL,
	"scheduled_at" bigint,
	"next_attempt_at" bigint,
	"lane" integer,
	"claimed_by" text COLLATE "C",
	"faults" integer NOT NULL,
	"bytes" integer NOT NULL,
	"sent_at" bigint,
	"updated_at" bigint NOT NULL,
	"campaign_id" text COLLATE "C",
	"contact_id" text COLLATE "C",
	"variant" text COLLATE "C",
	"skip_reason" text COLLATE "C",
	"relay" text COLLATE "C",
	"sent_as" text COLLATE "C",
	CONSTRAINT "emails_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "engagement" (
	"contact_seq" bigint PRIMARY KEY NOT NULL,
	"last_sent_at" bigint,
	"last_delivered_at" bigint,
	"last_opened_at" bigint,
	"last_clicked_at" bigint
);
--> statement-breakpoint
CREATE TABLE "engagements" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	"link_id" bigint NOT NULL,
	"machine" boolean NOT NULL,
	"events" integer NOT NULL,
	"first_at" bigint NOT NULL,
	"last_at" bigint NOT NULL,
	CONSTRAINT "engagements_workspace_id_email_id_link_id_machine_pk" PRIMARY KEY("workspace_id","email_id","link_id","machine")
);
--> statement-breakpoint
CREATE TABLE "event_arrivals" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"key" bigint NOT NULL,
	"length" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_definitions" (
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"schema" json,
	"created_at" bigint NOT NULL,
	"updated_at" bigint,
	CONSTRAINT "event_definitions_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE TABLE "event_readers" (
	"reader" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	CONSTRAINT "event_readers_workspace_id_reader_pk" PRIMARY KEY("workspace_id","reader")
);
--> statement-breakpoint
CREATE TABLE "event_runs" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"key" bigint NOT NULL,
	"length" integer NOT NULL,
	CONSTRAINT "event_runs_workspace_id_position_pk" PRIMARY KEY("workspace_id","position")
);
--> statement-breakpoint
CREATE TABLE "event_streams" (
	"workspace_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"sequence" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C",
	"contact_id" text COLLATE "C",
	"at" bigint NOT NULL,
	"data" json,
	"campaign_id" text COLLATE "C",
	"automation_id" text COLLATE "C",
	"machine" boolean,
	"was" text COLLATE "C",
	"starts_nothing" boolean
);
--> statement-breakpoint
CREATE TABLE "file_contents" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"sha256" text COLLATE "C" NOT NULL,
	"size" integer NOT NULL,
	"activation_id" text COLLATE "C",
	"staged_at" bigint
);
--> statement-breakpoint
CREATE TABLE "file_parts" (
	"content_id" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"bytes" "bytea" NOT NULL,
	CONSTRAINT "file_parts_content_id_part_pk" PRIMARY KEY("content_id","part")
);
--> statement-breakpoint
CREATE TABLE "held_agent_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"activation_id" text COLLATE "C" NOT NULL,
	"event" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "held_domains" (
	"domain" text COLLATE "C" PRIMARY KEY NOT NULL,
	"reason" text COLLATE "C",
	"held_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "held_emails" (
	"domain" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "held_emails_domain_workspace_id_email_id_pk" PRIMARY KEY("domain","workspace_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "held_requests" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C" NOT NULL,
	"link_id" bigint NOT NULL,
	"machine" boolean NOT NULL,
	"reason" text COLLATE "C",
	"client" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "held_requests_workspace_id_email_id_link_id_machine_pk" PRIMARY KEY("workspace_id","email_id","link_id","machine")
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"key_id" text COLLATE "C" NOT NULL,
	"route" text COLLATE "C" NOT NULL,
	"idempotency_key" text COLLATE "C" NOT NULL,
	"request_hash" text COLLATE "C" NOT NULL,
	"status" integer NOT NULL,
	"answer" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "idempotency_key_id_route_idempotency_key_pk" PRIMARY KEY("key_id","route","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "inbound_domains" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"domain" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"token" text COLLATE "C" NOT NULL,
	"last_error" text COLLATE "C",
	"checked_at" bigint,
	"failing_since" bigint,
	"created_at" bigint NOT NULL,
	"verified_at" bigint
);
--> statement-breakpoint
CREATE TABLE "inbound_reports" (
	"key" text COLLATE "C" PRIMARY KEY NOT NULL,
	"received_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "inbox" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"email_id" text COLLATE "C",
	"workspace_id" text COLLATE "C",
	"to_text" text COLLATE "C" NOT NULL,
	"from_text" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"size" integer NOT NULL,
	"raw" "bytea" NOT NULL,
	"received_at" bigint NOT NULL,
	"test" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "inbox_bytes" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"bytes" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "inbox_parts" (
	"mail_id" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	CONSTRAINT "inbox_parts_mail_id_part_pk" PRIMARY KEY("mail_id","part")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"payload" json NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"run_at" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"max_attempts" integer NOT NULL,
	"claims" integer NOT NULL,
	"claimed_by" text COLLATE "C",
	"claimed_at" bigint,
	"dedupe_key" text COLLATE "C",
	"last_error" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"lane" integer NOT NULL,
	"interruptions" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"permissions" json NOT NULL,
	"owner" boolean NOT NULL,
	"test" boolean NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"preview" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"revoked_at" bigint,
	"last_used_at" bigint,
	"expires_at" bigint,
	"senders" json,
	"networks" json
);
--> statement-breakpoint
CREATE TABLE "landing_page_days" (
	"page_id" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"views" integer NOT NULL,
	"visitors" integer NOT NULL,
	"submissions" integer NOT NULL,
	CONSTRAINT "landing_page_days_page_id_date_pk" PRIMARY KEY("page_id","date")
);
--> statement-breakpoint
CREATE TABLE "landing_page_referrers" (
	"page_id" text COLLATE "C" NOT NULL,
	"date" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"views" integer NOT NULL,
	CONSTRAINT "landing_page_referrers_page_id_date_host_pk" PRIMARY KEY("page_id","date","host")
);
--> statement-breakpoint
CREATE TABLE "landing_page_salts" (
	"date" text COLLATE "C" PRIMARY KEY NOT NULL,
	"salt" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "landing_page_submissions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"page_id" text COLLATE "C" NOT NULL,
	"contact_id" text COLLATE "C",
	"consent_text" text COLLATE "C" NOT NULL,
	"list_id" text COLLATE "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "landing_page_visitors" (
	"date" text COLLATE "C" NOT NULL,
	"page_id" text COLLATE "C" NOT NULL,
	"visitor" text COLLATE "C" NOT NULL,
	CONSTRAINT "landing_page_visitors_date_page_id_visitor_pk" PRIMARY KEY("date","page_id","visitor")
);
--> statement-breakpoint
CREATE TABLE "landing_pages" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"activation_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"slug" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"html" text COLLATE "C",
	"blocks" json,
	"seo" json NOT NULL,
	"form" json,
	"has_form" boolean NOT NULL,
	"lead_magnet_id" text COLLATE "C",
	"list_id" text COLLATE "C",
	"double_opt_in" boolean NOT NULL,
	"redirect_url" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"content_mark" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"published_at" bigint
);
--> statement-breakpoint
CREATE TABLE "lead_magnets" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"activation_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"sha256" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"file_name" text COLLATE "C" NOT NULL,
	"content_type" text COLLATE "C" NOT NULL,
	"size" integer NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "list_members" (
	"list_seq" bigint NOT NULL,
	"contact_seq" bigint NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"added_at" bigint NOT NULL,
	"joined_at" bigint,
	"token_hash" text COLLATE "C",
	"expires_at" bigint,
	CONSTRAINT "list_members_list_seq_contact_seq_pk" PRIMARY KEY("list_seq","contact_seq")
);
--> statement-breakpoint
CREATE TABLE "listings" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C" NOT NULL,
	"webhook_url" text COLLATE "C" NOT NULL,
	"permissions" json NOT NULL,
	"install_redirects" json NOT NULL,
	"settings_schema" json,
	"version" integer NOT NULL,
	"permissions_since" json NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"period" integer NOT NULL,
	"listed_at" bigint,
	"expires_at" bigint,
	"ended_at" bigint,
	"subscription" text COLLATE "C",
	"secret" "bytea" NOT NULL,
	"next_secret" "bytea",
	"next_secret_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lists" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"double_opt_in" boolean NOT NULL,
	"confirmation_from" text COLLATE "C",
	"confirmation_subject" text COLLATE "C",
	"public" boolean DEFAULT true NOT NULL,
	"language" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"deleted_at" bigint
);
--> statement-breakpoint
CREATE TABLE "mail_alarms" (
	"workspace_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"limits" json NOT NULL,
	"alarms" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mail_metrics" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"test" boolean NOT NULL,
	"dimension" text COLLATE "C" NOT NULL,
	"day" integer NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"counts" "bytea" NOT NULL,
	"erased" "bytea",
	CONSTRAINT "mail_metrics_workspace_id_test_dimension_day_value_pk" PRIMARY KEY("workspace_id","test","dimension","day","value")
);
--> statement-breakpoint
CREATE TABLE "mail_receivers" (
	"domain" text COLLATE "C" PRIMARY KEY NOT NULL,
	"receiver" text COLLATE "C",
	"checked_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"email_key" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C",
	"role" text COLLATE "C" NOT NULL,
	"invited_by" text COLLATE "C" NOT NULL,
	"account" text COLLATE "C",
	"mails" integer NOT NULL,
	"mails_since" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"joined_at" bigint,
	"last_sign_in_at" bigint,
	"removed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"activation_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"sequence" integer NOT NULL,
	"run_id" text COLLATE "C",
	"type" text COLLATE "C" NOT NULL,
	"direction" text COLLATE "C" NOT NULL,
	"author" text COLLATE "C" NOT NULL,
	"text" text COLLATE "C" NOT NULL,
	"format" text COLLATE "C" NOT NULL,
	"external_id" text COLLATE "C",
	"in_reply_to" text COLLATE "C",
	"received_id" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"read_at" bigint
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"value" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_notices" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"ended" text COLLATE "C",
	"at" bigint NOT NULL,
	"received_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"listing_id" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"session" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"amount" integer NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"checkout_url" text COLLATE "C" NOT NULL,
	"subscription" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"paid_at" bigint
);
--> statement-breakpoint
CREATE TABLE "plans" (
	"workspace_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"plan" text COLLATE "C" NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "proposals" (
	"message_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"content" json NOT NULL,
	"created" json
);
--> statement-breakpoint
CREATE TABLE "provider_connections" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"token" text COLLATE "C" NOT NULL,
	"key" "bytea" NOT NULL,
	"description" text COLLATE "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_buckets" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"tokens" double precision NOT NULL,
	"granted" double precision NOT NULL,
	"at" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "received" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C",
	"contact_id" text COLLATE "C",
	"campaign_id" text COLLATE "C",
	"to_text" text COLLATE "C" NOT NULL,
	"to_key" text COLLATE "C" NOT NULL,
	"from_text" text COLLATE "C",
	"from_key" text COLLATE "C",
	"from_name" text COLLATE "C",
	"subject" text COLLATE "C" NOT NULL,
	"message_id" text COLLATE "C",
	"message_key" text COLLATE "C" NOT NULL,
	"content_key" text COLLATE "C" NOT NULL,
	"auto_reply" text COLLATE "C",
	"files" integer NOT NULL,
	"authentication" json,
	"size" integer NOT NULL,
	"truncated" boolean NOT NULL,
	"received_at" bigint NOT NULL,
	"reply_to" text COLLATE "C",
	"reference_ids" json NOT NULL,
	"headers" json NOT NULL,
	"reply_text" text COLLATE "C" NOT NULL,
	"text_body" text COLLATE "C" NOT NULL,
	"html" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "received_files" (
	"received_id" text COLLATE "C" NOT NULL,
	"number" integer NOT NULL,
	"filename" text COLLATE "C" NOT NULL,
	"content_type" text COLLATE "C" NOT NULL,
	"content_id" text COLLATE "C",
	"size" integer NOT NULL,
	CONSTRAINT "received_files_received_id_number_pk" PRIMARY KEY("received_id","number")
);
--> statement-breakpoint
CREATE TABLE "received_parts" (
	"received_id" text COLLATE "C" NOT NULL,
	"file" integer NOT NULL,
	"part" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "received_parts_received_id_file_part_pk" PRIMARY KEY("received_id","file","part")
);
--> statement-breakpoint
CREATE TABLE "received_quotas" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"part" integer NOT NULL,
	"day" integer NOT NULL,
	"mails" integer NOT NULL,
	"kilobytes" integer NOT NULL,
	CONSTRAINT "received_quotas_workspace_id_part_pk" PRIMARY KEY("workspace_id","part")
);
--> statement-breakpoint
CREATE TABLE "relay_tokens" (
	"relay" text COLLATE "C" PRIMARY KEY NOT NULL,
	"basis" text COLLATE "C" NOT NULL,
	"token" "bytea" NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "relays" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"settings" json NOT NULL,
	"secrets" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_records" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C",
	"at" bigint NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"method" text COLLATE "C" NOT NULL,
	"path" text COLLATE "C" NOT NULL,
	"route" text COLLATE "C",
	"status" integer NOT NULL,
	"error" text COLLATE "C",
	"tenths" integer NOT NULL,
	"key_id" text COLLATE "C",
	"key_preview" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "run_logs" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"run" text COLLATE "C" NOT NULL,
	"level" text COLLATE "C" NOT NULL,
	"message" text COLLATE "C" NOT NULL,
	"data" json,
	"at" bigint NOT NULL,
	"agent_at" bigint
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"activation_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"request_hash" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C",
	"trigger" json,
	"parent_run_id" text COLLATE "C",
	"metadata" json,
	"started_at" bigint NOT NULL,
	"last_heartbeat_at" bigint NOT NULL,
	"deadline_at" bigint,
	"waiting_for" text COLLATE "C",
	"waiting_on" text COLLATE "C",
	"finished_at" bigint,
	"progress" json,
	"checkpoint" json,
	"summary" text COLLATE "C",
	"output" json,
	"error" json,
	"metrics" json,
	"failure_reason" text COLLATE "C",
	"credits_consumed" integer NOT NULL,
	"cancel_requested" boolean NOT NULL,
	"log_sequence" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "segment_fields" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"field" text COLLATE "C" NOT NULL,
	"segment_seq" bigint NOT NULL,
	CONSTRAINT "segment_fields_workspace_id_field_segment_seq_pk" PRIMARY KEY("workspace_id","field","segment_seq")
);
--> statement-breakpoint
CREATE TABLE "segment_members" (
	"segment_seq" bigint NOT NULL,
	"contact_seq" bigint NOT NULL,
	"entered_at" bigint NOT NULL,
	CONSTRAINT "segment_members_segment_seq_contact_seq_pk" PRIMARY KEY("segment_seq","contact_seq")
);
--> statement-breakpoint
CREATE TABLE "segments" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"rules" json NOT NULL,
	"timed" boolean NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"deleted_at" bigint
);
--> statement-breakpoint
CREATE TABLE "senders" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"token" text COLLATE "C" NOT NULL,
	"relay" text COLLATE "C",
	"last_error" text COLLATE "C",
	"checked_at" bigint,
	"failing_since" bigint,
	"created_at" bigint NOT NULL,
	"verified_at" bigint
);
--> statement-breakpoint
CREATE TABLE "suppressions" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"scope" text COLLATE "C" NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"email_id" text COLLATE "C",
	"note" text COLLATE "C",
	"unsubscribed_at" bigint,
	"unsubscribed_source" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "template_versions" (
	"template_id" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C",
	"from_text" text COLLATE "C",
	"reply_to" json,
	"html" text COLLATE "C",
	"text_body" text COLLATE "C",
	"blocks" json,
	"rendered_from" json,
	"layout" text COLLATE "C",
	"variables" json NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"restored_from" integer,
	"created_at" bigint NOT NULL,
	CONSTRAINT "template_versions_template_id_version_pk" PRIMARY KEY("template_id","version")
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C",
	"category" text COLLATE "C",
	"type" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"revision" integer NOT NULL,
	"version" integer,
	"published_hash" text COLLATE "C",
	"published_uses" json,
	"draft_hash" text COLLATE "C" NOT NULL,
	"draft_uses" json NOT NULL,
	"proposed_by" json,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"published_at" bigint
);
--> statement-breakpoint
CREATE TABLE "tracked_ids" (
	"workspace_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"event_key" bigint NOT NULL,
	CONSTRAINT "tracked_ids_workspace_id_id_pk" PRIMARY KEY("workspace_id","id")
);
--> statement-breakpoint
CREATE TABLE "tracked_links" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"url" text COLLATE "C" NOT NULL,
	"owner_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "wakeups" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"activation_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"fire_at" bigint NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"payload" json,
	"dedupe_key" text COLLATE "C",
	"scheduled" text COLLATE "C",
	"suspend_run" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"fired_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"attempt" integer NOT NULL,
	"at" bigint NOT NULL,
	"ms" integer NOT NULL,
	"class" text COLLATE "C" NOT NULL,
	"http_status" integer,
	"message" text COLLATE "C",
	"answer" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"endpoint_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"subject_id" text COLLATE "C",
	"sequence" integer NOT NULL,
	"at" bigint NOT NULL,
	"event_key" bigint,
	"body" text COLLATE "C" NOT NULL,
	"sealed" "bytea",
	"passes_hold" boolean DEFAULT false NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"tries" integer NOT NULL,
	"due_at" bigint,
	"last_attempt" integer,
	"last_at" bigint,
	"last_ms" integer,
	"last_class" text COLLATE "C",
	"last_status" integer,
	"last_error" text COLLATE "C",
	"last_answer" text COLLATE "C",
	"traceparent" text COLLATE "C",
	"settled_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"endpoint_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"workspace_id" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"subject_id" text COLLATE "C",
	"sequence" integer NOT NULL,
	"at" bigint NOT NULL,
	"event_key" bigint,
	"body" text COLLATE "C" NOT NULL,
	"sealed" "bytea",
	"passes_hold" boolean DEFAULT false NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"attempts" integer NOT NULL,
	"tries" integer NOT NULL,
	"due_at" bigint,
	"last_attempt" integer,
	"last_at" bigint,
	"last_ms" integer,
	"last_class" text COLLATE "C",
	"last_status" integer,
	"last_error" text COLLATE "C",
	"last_answer" text COLLATE "C",
	"traceparent" text COLLATE "C",
	"settled_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_streams" (
	"stream_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"endpoint_id" text COLLATE "C" NOT NULL,
	"due_at" bigint,
	"claim" text COLLATE "C",
	"interrupted" boolean DEFAULT false NOT NULL,
	"held" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"seen_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"relay" text COLLATE "C",
	"replies" boolean NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "activations_key" ON "activations" USING btree ("key_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "activations_living" ON "activations" USING btree ("workspace_id","living");--> statement-breakpoint
CREATE INDEX "activations_workspace" ON "activations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "activations_listing" ON "activations" USING btree ("listing_id","id");--> statement-breakpoint
CREATE INDEX "approvals_activation" ON "approvals" USING btree ("activation_id","status","message_id");--> statement-breakpoint
CREATE INDEX "approvals_workspace" ON "approvals" USING btree ("workspace_id","status","message_id","expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "assets_content" ON "assets" USING btree ("workspace_id","sha256");--> statement-breakpoint
CREATE INDEX "assets_workspace" ON "assets" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "assets_activation" ON "assets" USING btree ("activation_id");--> statement-breakpoint
CREATE INDEX "audit_entries_workspace" ON "audit_entries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_object" ON "audit_entries" USING btree ("object_id","id");--> statement-breakpoint
CREATE INDEX "automation_contacts_contact" ON "automation_contacts" USING btree ("contact_id","inside");--> statement-breakpoint
CREATE INDEX "automation_entries_automation" ON "automation_entries" USING btree ("automation_id","id");--> statement-breakpoint
CREATE INDEX "automation_entries_status" ON "automation_entries" USING btree ("automation_id","status","id");--> statement-breakpoint
CREATE INDEX "automation_entries_contact" ON "automation_entries" USING btree ("automation_id","contact_id");--> statement-breakpoint
CREATE INDEX "automation_entries_due" ON "automation_entries" USING btree ("automation_id","due_at","id") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "automation_entries_waiting" ON "automation_entries" USING btree ("contact_id","waits_for") WHERE "automation_entries"."waits_for" is not null;--> statement-breakpoint
CREATE INDEX "automations_workspace" ON "automations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "automations_trigger" ON "automations" USING btree ("workspace_id","trigger_key") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "automations_goal" ON "automations" USING btree ("workspace_id","goal_key") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE UNIQUE INDEX "campaign_contents_id" ON "campaign_contents" USING btree ("contents_id");--> statement-breakpoint
CREATE INDEX "campaign_link_clicks_email" ON "campaign_link_clicks" USING btree ("email_id");--> statement-breakpoint
CREATE INDEX "campaigns_workspace" ON "campaigns" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "campaigns_status" ON "campaigns" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE UNIQUE INDEX "contact_action_kinds_action" ON "contact_action_kinds" USING btree ("workspace_id","action");--> statement-breakpoint
CREATE INDEX "contact_actions_contact" ON "contact_actions" USING btree ("contact_seq","kind","at","value");--> statement-breakpoint
CREATE INDEX "contact_actions_kind" ON "contact_actions" USING btree ("kind","at","contact_seq","value");--> statement-breakpoint
CREATE INDEX "contact_counts_of" ON "contact_counts" USING btree ("workspace_id","tag_key","status","block","delta");--> statement-breakpoint
CREATE INDEX "contact_import_results_of" ON "contact_import_results" USING btree ("import_seq");--> statement-breakpoint
CREATE INDEX "contact_import_rows_of" ON "contact_import_rows" USING btree ("contact_seq");--> statement-breakpoint
CREATE UNIQUE INDEX "contact_imports_id" ON "contact_imports" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "contact_imports_name" ON "contact_imports" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "contact_properties_key" ON "contact_properties" USING btree ("workspace_id","key");--> statement-breakpoint
CREATE INDEX "contact_tags_status" ON "contact_tags" USING btree ("workspace_id","tag_key","status","contact_seq");--> statement-breakpoint
CREATE UNIQUE INDEX "contacts_id" ON "contacts" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "contacts_email" ON "contacts" USING btree ("workspace_id","email_key");--> statement-breakpoint
CREATE UNIQUE INDEX "contacts_external_id" ON "contacts" USING btree ("workspace_id","external_id") WHERE "contacts"."external_id" is not null;--> statement-breakpoint
CREATE INDEX "contacts_list" ON "contacts" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "contacts_status" ON "contacts" USING btree ("workspace_id","status","seq");--> statement-breakpoint
CREATE INDEX "credit_entries_workspace" ON "credit_entries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "credit_entries_activation" ON "credit_entries" USING btree ("activation_id","id");--> statement-breakpoint
CREATE INDEX "credit_entries_refund" ON "credit_entries" USING btree ("refund_of");--> statement-breakpoint
CREATE UNIQUE INDEX "dashboard_sessions_hash" ON "dashboard_sessions" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "dashboard_sessions_workspace" ON "dashboard_sessions" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "developer_webhooks_workspace" ON "developer_webhooks" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "emails_status" ON "emails" USING btree ("workspace_id","status","id","mail_id");--> statement-breakpoint
CREATE INDEX "emails_queue" ON "emails" USING btree ("lane","next_attempt_at","id") WHERE lane is not null and claimed_by is null;--> statement-breakpoint
CREATE INDEX "emails_claimed" ON "emails" USING btree ("claimed_by") WHERE claimed_by is not null;--> statement-breakpoint
CREATE INDEX "emails_to" ON "emails" USING btree ("workspace_id","to_key","id");--> statement-breakpoint
CREATE INDEX "emails_mail" ON "emails" USING btree ("workspace_id","mail_id","id") WHERE mail_id is not null;--> statement-breakpoint
CREATE INDEX "emails_in_doubt" ON "emails" USING btree ("workspace_id","in_doubt","id") WHERE in_doubt;--> statement-breakpoint
CREATE INDEX "emails_scheduled" ON "emails" USING btree ("workspace_id","id","scheduled_at") WHERE scheduled_at is not null and status = 'queued' and campaign_id is null;--> statement-breakpoint
CREATE INDEX "emails_campaign_address" ON "emails" USING btree ("campaign_id","to_key") WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX "emails_campaign_status" ON "emails" USING btree ("campaign_id","status","id") WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX "emails_campaign_waiting" ON "emails" USING btree ("campaign_id","variant","scheduled_at","id") WHERE campaign_id is not null and next_attempt_at is null and status in ('queued', 'deferred');--> statement-breakpoint
CREATE UNIQUE INDEX "event_definitions_name" ON "event_definitions" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "event_runs_key" ON "event_runs" USING btree ("key");--> statement-breakpoint
CREATE INDEX "events_email" ON "events" USING btree ("email_id");--> statement-breakpoint
CREATE INDEX "events_contact" ON "events" USING btree ("contact_id") WHERE "events"."contact_id" is not null;--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("workspace_id","type","at","sequence");--> statement-breakpoint
CREATE INDEX "events_campaign" ON "events" USING btree ("workspace_id","campaign_id","type","at","sequence") WHERE "events"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX "events_automation" ON "events" USING btree ("workspace_id","automation_id","type","at","sequence") WHERE "events"."automation_id" is not null;--> statement-breakpoint
CREATE INDEX "events_test" ON "events" USING btree ("workspace_id","type","at","sequence") WHERE email_id >= 'em_t';--> statement-breakpoint
CREATE INDEX "events_machine" ON "events" USING btree ("workspace_id","machine","type","at","sequence") WHERE "events"."machine" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "file_contents_kept" ON "file_contents" USING btree ("workspace_id","sha256") WHERE "file_contents"."staged_at" is null;--> statement-breakpoint
CREATE INDEX "file_contents_workspace" ON "file_contents" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "held_agent_events_activation" ON "held_agent_events" USING btree ("activation_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_age" ON "idempotency" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "inbound_domains_domain" ON "inbound_domains" USING btree ("workspace_id","domain");--> statement-breakpoint
CREATE UNIQUE INDEX "inbound_domains_verified" ON "inbound_domains" USING btree ("domain") WHERE status = 'VERIFIED';--> statement-breakpoint
CREATE INDEX "inbound_domains_list" ON "inbound_domains" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "inbox_to" ON "inbox" USING btree ("to_text");--> statement-breakpoint
CREATE INDEX "inbox_test" ON "inbox" USING btree ("workspace_id","id") WHERE test;--> statement-breakpoint
CREATE INDEX "inbox_parts_hash" ON "inbox_parts" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "jobs_state" ON "jobs" USING btree ("state","lane","run_at");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_dedupe" ON "jobs" USING btree ("dedupe_key") WHERE "jobs"."dedupe_key" is not null;--> statement-breakpoint
CREATE INDEX "jobs_workspace" ON "jobs" USING btree ((payload ->> 'workspaceId'),"id");--> statement-breakpoint
CREATE INDEX "jobs_dead" ON "jobs" USING btree ((payload ->> 'workspaceId'),"id") WHERE state = 'dead';--> statement-breakpoint
CREATE UNIQUE INDEX "keys_hash" ON "keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "keys_workspace" ON "keys" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "landing_page_submissions_page" ON "landing_page_submissions" USING btree ("page_id","id");--> statement-breakpoint
CREATE INDEX "landing_page_submissions_contact" ON "landing_page_submissions" USING btree ("contact_id");--> statement-breakpoint
CREATE UNIQUE INDEX "landing_pages_slug" ON "landing_pages" USING btree ("workspace_id","slug");--> statement-breakpoint
CREATE INDEX "landing_pages_workspace" ON "landing_pages" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "landing_pages_magnet" ON "landing_pages" USING btree ("lead_magnet_id");--> statement-breakpoint
CREATE INDEX "lead_magnets_workspace" ON "lead_magnets" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "lead_magnets_content" ON "lead_magnets" USING btree ("workspace_id","sha256");--> statement-breakpoint
CREATE INDEX "lead_magnets_activation" ON "lead_magnets" USING btree ("activation_id");--> statement-breakpoint
CREATE INDEX "list_members_status" ON "list_members" USING btree ("list_seq","status","contact_seq");--> statement-breakpoint
CREATE INDEX "list_members_contact" ON "list_members" USING btree ("contact_seq");--> statement-breakpoint
CREATE UNIQUE INDEX "list_members_token" ON "list_members" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "listings_slug" ON "listings" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "listings_workspace" ON "listings" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "listings_catalog" ON "listings" USING btree ("state","id");--> statement-breakpoint
CREATE UNIQUE INDEX "listings_subscription" ON "listings" USING btree ("subscription");--> statement-breakpoint
CREATE UNIQUE INDEX "lists_id" ON "lists" USING btree ("id");--> statement-breakpoint
CREATE INDEX "lists_workspace" ON "lists" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "members_address" ON "members" USING btree ("workspace_id","email_key");--> statement-breakpoint
CREATE INDEX "members_workspace" ON "members" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "members_email" ON "members" USING btree ("email_key");--> statement-breakpoint
CREATE UNIQUE INDEX "messages_sequence" ON "messages" USING btree ("activation_id","sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "messages_external" ON "messages" USING btree ("activation_id","external_id");--> statement-breakpoint
CREATE INDEX "messages_activation" ON "messages" USING btree ("activation_id","id");--> statement-breakpoint
CREATE INDEX "messages_unread" ON "messages" USING btree ("activation_id","direction","read_at");--> statement-breakpoint
CREATE INDEX "messages_received" ON "messages" USING btree ("received_id") WHERE "messages"."received_id" is not null;--> statement-breakpoint
CREATE INDEX "messages_waiting" ON "messages" USING btree ("workspace_id","direction","type","id") WHERE "messages"."read_at" is null;--> statement-breakpoint
CREATE INDEX "payment_notices_ended" ON "payment_notices" USING btree ("ended");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_session" ON "payments" USING btree ("session");--> statement-breakpoint
CREATE INDEX "payments_listing" ON "payments" USING btree ("listing_id","id");--> statement-breakpoint
CREATE INDEX "payments_workspace" ON "payments" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "provider_connections_token" ON "provider_connections" USING btree ("token");--> statement-breakpoint
CREATE INDEX "provider_connections_workspace" ON "provider_connections" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "received_message" ON "received" USING btree ("workspace_id","message_key","to_key","content_key");--> statement-breakpoint
CREATE INDEX "received_list" ON "received" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "received_from" ON "received" USING btree ("workspace_id","from_key","id");--> statement-breakpoint
CREATE INDEX "received_to" ON "received" USING btree ("workspace_id","to_key","id");--> statement-breakpoint
CREATE INDEX "received_thread" ON "received" USING btree ("workspace_id","thread_id","id");--> statement-breakpoint
CREATE INDEX "received_email" ON "received" USING btree ("workspace_id","email_id","id");--> statement-breakpoint
CREATE INDEX "request_records_workspace" ON "request_records" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "run_logs_run" ON "run_logs" USING btree ("run","id");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_run" ON "runs" USING btree ("activation_id","run_id");--> statement-breakpoint
CREATE INDEX "runs_activation" ON "runs" USING btree ("activation_id","id");--> statement-breakpoint
CREATE INDEX "runs_live" ON "runs" USING btree ("activation_id","status");--> statement-breakpoint
CREATE INDEX "runs_deadline" ON "runs" USING btree ("status","deadline_at");--> statement-breakpoint
CREATE INDEX "segment_fields_segment" ON "segment_fields" USING btree ("segment_seq");--> statement-breakpoint
CREATE INDEX "segment_members_contact" ON "segment_members" USING btree ("contact_seq");--> statement-breakpoint
CREATE UNIQUE INDEX "segments_id" ON "segments" USING btree ("id");--> statement-breakpoint
CREATE INDEX "segments_workspace" ON "segments" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "senders_verified_domain" ON "senders" USING btree ("value") WHERE kind = 'domain' AND status = 'VERIFIED';--> statement-breakpoint
CREATE UNIQUE INDEX "senders_value" ON "senders" USING btree ("workspace_id","value");--> statement-breakpoint
CREATE UNIQUE INDEX "senders_token" ON "senders" USING btree ("token");--> statement-breakpoint
CREATE INDEX "senders_list" ON "senders" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "suppressions_id" ON "suppressions" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "suppressions_email" ON "suppressions" USING btree ("workspace_id","email");--> statement-breakpoint
CREATE INDEX "suppressions_workspace" ON "suppressions" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "suppressions_filter" ON "suppressions" USING btree ("workspace_id","reason","scope","source","seq");--> statement-breakpoint
CREATE INDEX "suppressions_since" ON "suppressions" USING btree ("workspace_id","created_at","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "templates_slug" ON "templates" USING btree ("workspace_id","slug");--> statement-breakpoint
CREATE INDEX "templates_workspace" ON "templates" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "templates_category" ON "templates" USING btree ("workspace_id","category","id");--> statement-breakpoint
CREATE INDEX "tracked_ids_event" ON "tracked_ids" USING btree ("event_key");--> statement-breakpoint
CREATE UNIQUE INDEX "tracked_links_hash" ON "tracked_links" USING btree ("workspace_id","hash");--> statement-breakpoint
CREATE UNIQUE INDEX "wakeups_dedupe" ON "wakeups" USING btree ("activation_id","scheduled");--> statement-breakpoint
CREATE INDEX "wakeups_activation" ON "wakeups" USING btree ("activation_id","id");--> statement-breakpoint
CREATE INDEX "wakeups_due" ON "wakeups" USING btree ("status","fire_at");--> statement-breakpoint
CREATE INDEX "webhook_attempts_event" ON "webhook_attempts" USING btree ("event_id","attempt");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_type" ON "webhook_deliveries" USING btree ("endpoint_id","type","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_settled" ON "webhook_deliveries" USING btree ("endpoint_id","state","id") WHERE "webhook_deliveries"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_open" ON "webhook_deliveries" USING btree ("stream_id","sequence") WHERE "webhook_deliveries"."settled_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_events_sequence" ON "webhook_events" USING btree ("stream_id","sequence");--> statement-breakpoint
CREATE INDEX "webhook_events_endpoint" ON "webhook_events" USING btree ("endpoint_id","id");--> statement-breakpoint
CREATE INDEX "webhook_events_state" ON "webhook_events" USING btree ("endpoint_id","state","id");--> statement-breakpoint
CREATE INDEX "webhook_events_type" ON "webhook_events" USING btree ("endpoint_id","type","id");--> statement-breakpoint
CREATE INDEX "webhook_events_open" ON "webhook_events" USING btree ("stream_id","sequence") WHERE "webhook_events"."settled_at" is null;--> statement-breakpoint
CREATE INDEX "webhook_streams_due" ON "webhook_streams" USING btree ("endpoint_id","due_at") WHERE "webhook_streams"."due_at" is not null;
--> statement-breakpoint
-- Parts of addresses and names, by the three characters they are made of. No extension: those that can do this need rights
-- that a database may not give, and know letters only as the language of the database does.
CREATE FUNCTION "contact_trigrams"("search_text" text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS
$$ SELECT array_to_tsvector(ARRAY(SELECT DISTINCT substr("search_text", i, 3) FROM generate_series(1, length("search_text") - 2) AS i)) $$;
--> statement-breakpoint
CREATE INDEX "contacts_search" ON "contacts" USING gin ("contact_trigrams"("search_text")) WITH (gin_pending_list_limit = 512);
--> statement-breakpoint
CREATE INDEX "suppressions_search" ON "suppressions" USING gin ("contact_trigrams"("email")) WITH (gin_pending_list_limit = 512);
--> statement-breakpoint
-- A bucket is written with each call it lets through: without a log that is as cheap as it is short-lived. After a crash of the
-- database all are full.
ALTER TABLE "rate_buckets" SET UNLOGGED;
--> statement-breakpoint
-- Half of each page is left free, so that a contact that changes stays on its page and no index is written, unless an indexed column
-- changes: that of the search costs 100 µs, because its trigrams are computed again. Each contact that is compared with the rules of
-- segments is written, to lock it: 8 instead of 105 µs. The rows take twice as much of the disk, 270 bytes more for each contact.
ALTER TABLE "contacts" SET (fillfactor = 50);
--> statement-breakpoint
-- Which emails have contents of a month that is to be dropped. Both are stored in the order of time, so a page of this index says it of
-- millions of emails, and a send pays nothing for it.
CREATE INDEX "emails_contents" ON "emails" USING brin ("contents_id");
