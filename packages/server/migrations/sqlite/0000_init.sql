CREATE TABLE `activations` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`listing_id` text NOT NULL,
	`period` integer NOT NULL,
	`living` text,
	`status` text NOT NULL,
	`pause_reasons` text NOT NULL,
	`scopes` text NOT NULL,
	`accepted_version` integer NOT NULL,
	`kept_version` integer,
	`kept_at` integer,
	`settings` text NOT NULL,
	`key_hash` text NOT NULL,
	`key_preview` text NOT NULL,
	`key_delivered_at` integer,
	`sequence` integer NOT NULL,
	`last_event_at` integer NOT NULL,
	`message_sequence` integer NOT NULL,
	`webhook_last_error` text,
	`uncovered_at` integer,
	`credit_limit` integer,
	`credits_used` integer NOT NULL,
	`credits_reset_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`paused_at` integer,
	`deactivated_at` integer,
	`deactivation_reason` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `activations_key` ON `activations` (`key_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `activations_living` ON `activations` (`workspace_id`,`living`);--> statement-breakpoint
CREATE INDEX `activations_workspace` ON `activations` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `activations_listing` ON `activations` (`listing_id`,`id`);--> statement-breakpoint
CREATE TABLE `approvals` (
	`message_id` text PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`run_id` text,
	`title` text NOT NULL,
	`options` text NOT NULL,
	`allow_comment` integer NOT NULL,
	`preview` text,
	`allows` text,
	`proposal` text,
	`suspend_run` integer NOT NULL,
	`status` text NOT NULL,
	`decision` text,
	`comment` text,
	`answered_at` integer,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `approvals_activation` ON `approvals` (`activation_id`,`status`,`message_id`);--> statement-breakpoint
CREATE INDEX `approvals_workspace` ON `approvals` (`workspace_id`,`status`,`message_id`,`expires_at`);--> statement-breakpoint
CREATE TABLE `assets` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`activation_id` text,
	`sha256` text NOT NULL,
	`file_name` text NOT NULL,
	`content_type` text NOT NULL,
	`size` integer NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`alt` text,
	`tags` text NOT NULL,
	`external_id` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `assets_content` ON `assets` (`workspace_id`,`sha256`);--> statement-breakpoint
CREATE INDEX `assets_workspace` ON `assets` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `assets_activation` ON `assets` (`activation_id`);--> statement-breakpoint
CREATE TABLE `attachment_parts` (
	`contents_id` integer NOT NULL,
	`position` integer NOT NULL,
	`part` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`contents_id`, `position`, `part`)
);
--> statement-breakpoint
CREATE TABLE `attachments` (
	`contents_id` integer NOT NULL,
	`position` integer NOT NULL,
	`filename` text NOT NULL,
	`content_type` text NOT NULL,
	`content_id` text,
	`size` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`contents_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`object_id` text,
	`object_name` text,
	`changes` text NOT NULL,
	`request_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_workspace` ON `audit_entries` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_entries_object` ON `audit_entries` (`object_id`,`id`);--> statement-breakpoint
CREATE TABLE `automation_contacts` (
	`automation_id` text NOT NULL,
	`contact_id` text NOT NULL,
	`entry_id` text NOT NULL,
	`entered_at` integer NOT NULL,
	`inside` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `contact_id`)
);
--> statement-breakpoint
CREATE INDEX `automation_contacts_contact` ON `automation_contacts` (`contact_id`,`inside`);--> statement-breakpoint
CREATE TABLE `automation_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`automation_id` text NOT NULL,
	`version` integer NOT NULL,
	`contact_id` text NOT NULL,
	`contact_seq` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`step_id` text,
	`due_at` integer,
	`waiting_in` text,
	`waits_for` text,
	`waits_after` integer,
	`met` integer,
	`event` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`moves` integer NOT NULL,
	`entered_at` integer NOT NULL,
	`entered_after` integer NOT NULL,
	`ended_at` integer,
	`ended_after` integer,
	`goal_reached_at` integer,
	`revenue` integer,
	`goal_revenue` integer
);
--> statement-breakpoint
CREATE INDEX `automation_entries_automation` ON `automation_entries` (`automation_id`,`id`);--> statement-breakpoint
CREATE INDEX `automation_entries_status` ON `automation_entries` (`automation_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `automation_entries_contact` ON `automation_entries` (`automation_id`,`contact_id`);--> statement-breakpoint
CREATE INDEX `automation_entries_due` ON `automation_entries` (`automation_id`,`due_at`,`id`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX `automation_entries_waiting` ON `automation_entries` (`contact_id`,`waits_for`) WHERE "automation_entries"."waits_for" is not null;--> statement-breakpoint
CREATE TABLE `automation_moves` (
	`entry_id` text NOT NULL,
	`move` integer NOT NULL,
	`step_id` text NOT NULL,
	`at` integer NOT NULL,
	`outcome` text NOT NULL,
	`reason` text,
	`branch` text,
	`email_id` text,
	PRIMARY KEY(`entry_id`, `move`)
);
--> statement-breakpoint
CREATE TABLE `automation_revenue` (
	`automation_id` text NOT NULL,
	`part` integer NOT NULL,
	`revenue` integer NOT NULL,
	`goal_revenue` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `part`)
);
--> statement-breakpoint
CREATE TABLE `automation_versions` (
	`automation_id` text NOT NULL,
	`version` integer NOT NULL,
	`steps` text NOT NULL,
	`connections` text NOT NULL,
	`templates` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`automation_id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `automations` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`trigger_on` text NOT NULL,
	`next_date_at` integer,
	`trigger_key` text NOT NULL,
	`goal` text,
	`goal_key` text,
	`listens_after` integer,
	`currency` text DEFAULT 'USD' NOT NULL,
	`version` integer NOT NULL,
	`allow_re_entry` integer NOT NULL,
	`re_entry_delay_hours` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`archived_at` integer,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE INDEX `automations_workspace` ON `automations` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `automations_trigger` ON `automations` (`workspace_id`,`trigger_key`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX `automations_goal` ON `automations` (`workspace_id`,`goal_key`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE TABLE `brands` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`website` text,
	`logo_asset_id` text,
	`colors` text NOT NULL,
	`fonts` text NOT NULL,
	`voice` text NOT NULL,
	`locale` text,
	`texts` text NOT NULL,
	`timezone` text NOT NULL,
	`publish_needs_approval` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `campaign_audience` (
	`campaign_id` text NOT NULL,
	`last` integer NOT NULL,
	`seqs` text NOT NULL,
	PRIMARY KEY(`campaign_id`, `last`)
);
--> statement-breakpoint
CREATE TABLE `campaign_contents` (
	`campaign_id` text NOT NULL,
	`variant` text NOT NULL,
	`contents_id` integer NOT NULL,
	`preview_text` text,
	`source` text NOT NULL,
	`hash` text,
	PRIMARY KEY(`campaign_id`, `variant`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `campaign_contents_id` ON `campaign_contents` (`contents_id`);--> statement-breakpoint
CREATE TABLE `campaign_link_clicks` (
	`campaign_id` text NOT NULL,
	`link` text NOT NULL,
	`email_id` text NOT NULL,
	PRIMARY KEY(`campaign_id`, `link`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `campaign_link_clicks_email` ON `campaign_link_clicks` (`email_id`);--> statement-breakpoint
CREATE TABLE `campaign_links` (
	`campaign_id` text NOT NULL,
	`link` text NOT NULL,
	`part` integer NOT NULL,
	`url` text NOT NULL,
	`clicks` integer NOT NULL,
	`unique_clicks` integer NOT NULL,
	`machine_clicks` integer NOT NULL,
	PRIMARY KEY(`campaign_id`, `link`, `part`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaign_reactions` (
	`campaign_id` text NOT NULL,
	`email_id` text NOT NULL,
	`opened_at` integer,
	`clicked_at` integer,
	`unsubscribed_at` integer,
	PRIMARY KEY(`campaign_id`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `campaigns` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`subject_line` text NOT NULL,
	`from_email` text NOT NULL,
	`from_name` text,
	`reply_to` text,
	`preview_text` text,
	`template_id` text,
	`html` text,
	`text_body` text,
	`blocks` text,
	`recipient_type` text NOT NULL,
	`segment_id` text,
	`list_id` text,
	`include` text NOT NULL,
	`exclude` text NOT NULL,
	`resend_of` text,
	`status` text NOT NULL,
	`status_reason` text,
	`scheduled_at` integer,
	`relay` text,
	`throttle` text,
	`local_time` text,
	`ab_test` text,
	`winner` text,
	`track_opens` integer NOT NULL,
	`track_clicks` integer NOT NULL,
	`utm` text,
	`proposed_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`run` integer NOT NULL,
	`audience` integer,
	`cursor` integer NOT NULL,
	`eligible` integer NOT NULL,
	`expanded_at` integer,
	`next_release_at` integer,
	`released_at` integer,
	`decide_at` integer
);
--> statement-breakpoint
CREATE INDEX `campaigns_workspace` ON `campaigns` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `campaigns_status` ON `campaigns` (`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE TABLE `contact_action_kinds` (
	`seq` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`action` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_action_kinds_action` ON `contact_action_kinds` (`workspace_id`,`action`);--> statement-breakpoint
CREATE TABLE `contact_actions` (
	`event_key` integer PRIMARY KEY NOT NULL,
	`contact_seq` integer NOT NULL,
	`kind` integer NOT NULL,
	`at` integer NOT NULL,
	`value` real,
	`campaign_id` text,
	`template` text
);
--> statement-breakpoint
CREATE INDEX `contact_actions_contact` ON `contact_actions` (`contact_seq`,`kind`,`at`,`value`);--> statement-breakpoint
CREATE INDEX `contact_actions_kind` ON `contact_actions` (`kind`,`at`,`contact_seq`,`value`);--> statement-breakpoint
CREATE TABLE `contact_counts` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`tag_key` text NOT NULL,
	`status` text NOT NULL,
	`block` integer NOT NULL,
	`delta` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_counts_of` ON `contact_counts` (`workspace_id`,`tag_key`,`status`,`block`,`delta`);--> statement-breakpoint
CREATE TABLE `contact_import_results` (
	`id` integer PRIMARY KEY NOT NULL,
	`import_seq` integer NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`unchanged` integer NOT NULL,
	`skipped` integer NOT NULL,
	`failed` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `contact_import_results_of` ON `contact_import_results` (`import_seq`);--> statement-breakpoint
CREATE TABLE `contact_import_rows` (
	`import_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`created` integer NOT NULL,
	`before_values` text NOT NULL,
	`after_values` text NOT NULL,
	`said_no` integer NOT NULL,
	`suppression_id` text,
	`list_id` text,
	PRIMARY KEY(`import_seq`, `contact_seq`)
);
--> statement-breakpoint
CREATE INDEX `contact_import_rows_of` ON `contact_import_rows` (`contact_seq`);--> statement-breakpoint
CREATE TABLE `contact_imports` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`tag` text,
	`file` text,
	`state` text NOT NULL,
	`kept` integer NOT NULL,
	`created_at` integer NOT NULL,
	`undone_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_imports_id` ON `contact_imports` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `contact_imports_name` ON `contact_imports` (`workspace_id`,`name`);--> statement-breakpoint
CREATE TABLE `contact_properties` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`key` text NOT NULL,
	`type` text NOT NULL,
	`fallback` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contact_properties_key` ON `contact_properties` (`workspace_id`,`key`);--> statement-breakpoint
CREATE TABLE `contact_tags` (
	`workspace_id` text NOT NULL,
	`tag_key` text NOT NULL,
	`contact_seq` integer NOT NULL,
	`status` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `tag_key`, `contact_seq`)
);
--> statement-breakpoint
CREATE INDEX `contact_tags_status` ON `contact_tags` (`workspace_id`,`tag_key`,`status`,`contact_seq`);--> statement-breakpoint
CREATE TABLE `contacts` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`external_id` text,
	`first_name` text,
	`last_name` text,
	`phone` text,
	`language` text,
	`status` text NOT NULL,
	`tags` text NOT NULL,
	`custom_fields` text NOT NULL,
	`search_text` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_id` ON `contacts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_email` ON `contacts` (`workspace_id`,`email_key`);--> statement-breakpoint
CREATE UNIQUE INDEX `contacts_external_id` ON `contacts` (`workspace_id`,`external_id`) WHERE "contacts"."external_id" is not null;--> statement-breakpoint
CREATE INDEX `contacts_list` ON `contacts` (`workspace_id`,`seq`);--> statement-breakpoint
CREATE INDEX `contacts_status` ON `contacts` (`workspace_id`,`status`,`seq`);--> statement-breakpoint
CREATE TABLE `contents` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`from_text` text NOT NULL,
	`reply_to` text,
	`subject` text NOT NULL,
	`html` text,
	`text_body` text,
	`headers` text NOT NULL,
	`tags` text NOT NULL,
	`attachments` integer NOT NULL,
	`files_of` integer,
	`template` text,
	`automation_id` text,
	`bypass_unsubscribe` integer DEFAULT false NOT NULL,
	`tracking` text,
	`traceparent` text,
	`addressees` text,
	`thread_id` text,
	`as_is` integer,
	`message_id` text
);
--> statement-breakpoint
CREATE TABLE `tallies` (
	`owner` text NOT NULL,
	`kind` text NOT NULL,
	`part` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`owner`, `kind`, `part`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `credit_balances` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `credit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`activation_id` text,
	`run_id` text,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`balance_after` integer NOT NULL,
	`action` text,
	`description` text,
	`units` text,
	`refund_of` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `credit_entries_workspace` ON `credit_entries` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `credit_entries_activation` ON `credit_entries` (`activation_id`,`id`);--> statement-breakpoint
CREATE INDEX `credit_entries_refund` ON `credit_entries` (`refund_of`);--> statement-breakpoint
CREATE TABLE `dashboard_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`key_id` text,
	`role` text,
	`person_name` text,
	`member_id` text,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `dashboard_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`hash` text NOT NULL,
	`key_id` text NOT NULL,
	`role` text NOT NULL,
	`way` text NOT NULL,
	`person_name` text,
	`member_id` text,
	`operator_hash` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dashboard_sessions_hash` ON `dashboard_sessions` (`hash`);--> statement-breakpoint
CREATE INDEX `dashboard_sessions_workspace` ON `dashboard_sessions` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `developer_webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`events` text NOT NULL,
	`format` text NOT NULL,
	`status` text NOT NULL,
	`alert_email` text,
	`secret` blob NOT NULL,
	`next_secret` blob,
	`next_secret_at` integer,
	`failing_since` integer,
	`last_error` text,
	`position` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `developer_webhooks_workspace` ON `developer_webhooks` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `email_labels` (
	`workspace_id` text NOT NULL,
	`label` text NOT NULL,
	`email_id` text NOT NULL,
	PRIMARY KEY(`workspace_id`, `label`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `emails` (
	`workspace_id` text NOT NULL,
	`id` text NOT NULL,
	`contents_id` integer NOT NULL,
	`to_text` text NOT NULL,
	`to_key` text NOT NULL,
	`to_name` text,
	`mail_id` text,
	`kind` text,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`in_doubt` integer NOT NULL,
	`last_error` text,
	`created_at` integer NOT NULL,
	`scheduled_at` integer,
	`next_attempt_at` integer,
	`lane` integer,
	`claimed_by` text,
	`faults` integer NOT NULL,
	`bytes` integer NOT NULL,
	`sent_at` integer,
	`updated_at` integer NOT NULL,
	`campaign_id` text,
	`contact_id` text,
	`variant` text,
	`skip_reason` text,
	`relay` text,
	`sent_as` text,
	PRIMARY KEY(`workspace_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `emails_status` ON `emails` (`workspace_id`,`status`,`id`,`mail_id`);--> statement-breakpoint
CREATE INDEX `emails_queue` ON `emails` (`lane`,`next_attempt_at`,`id`) WHERE lane is not null and claimed_by is null;--> statement-breakpoint
CREATE INDEX `emails_claimed` ON `emails` (`claimed_by`) WHERE claimed_by is not null;--> statement-breakpoint
CREATE INDEX `emails_to` ON `emails` (`workspace_id`,`to_key`,`id`);--> statement-breakpoint
CREATE INDEX `emails_mail` ON `emails` (`workspace_id`,`mail_id`,`id`) WHERE mail_id is not null;--> statement-breakpoint
CREATE INDEX `emails_in_doubt` ON `emails` (`workspace_id`,`in_doubt`,`id`) WHERE in_doubt;--> statement-breakpoint
CREATE INDEX `emails_scheduled` ON `emails` (`workspace_id`,`id`,`scheduled_at`) WHERE scheduled_at is not null and status = 'queued' and campaign_id is null;--> statement-breakpoint
CREATE INDEX `emails_campaign_address` ON `emails` (`campaign_id`,`to_key`) WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX `emails_campaign_status` ON `emails` (`campaign_id`,`status`,`id`) WHERE campaign_id is not null;--> statement-breakpoint
CREATE INDEX `emails_campaign_waiting` ON `emails` (`campaign_id`,`variant`,`scheduled_at`,`id`) WHERE campaign_id is not null and next_attempt_at is null and status in ('queued', 'deferred');--> statement-breakpoint
CREATE TABLE `engagement` (
	`contact_seq` integer PRIMARY KEY NOT NULL,
	`last_sent_at` integer,
	`last_delivered_at` integer,
	`last_opened_at` integer,
	`last_clicked_at` integer
);
--> statement-breakpoint
CREATE TABLE `engagements` (
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	`link_id` integer NOT NULL,
	`machine` integer NOT NULL,
	`events` integer NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email_id`, `link_id`, `machine`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `event_arrivals` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`key` integer NOT NULL,
	`length` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event_definitions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`schema` text,
	`created_at` integer NOT NULL,
	`updated_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_definitions_name` ON `event_definitions` (`workspace_id`,`name`);--> statement-breakpoint
CREATE TABLE `event_readers` (
	`reader` text NOT NULL,
	`workspace_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `reader`)
);
--> statement-breakpoint
CREATE TABLE `event_runs` (
	`workspace_id` text NOT NULL,
	`position` integer NOT NULL,
	`key` integer NOT NULL,
	`length` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `position`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `event_runs_key` ON `event_runs` (`key`);--> statement-breakpoint
CREATE TABLE `event_streams` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`last` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`email_id` text,
	`contact_id` text,
	`at` integer NOT NULL,
	`data` text,
	`campaign_id` text,
	`automation_id` text,
	`machine` integer,
	`was` text,
	`starts_nothing` integer
);
--> statement-breakpoint
CREATE INDEX `events_email` ON `events` (`email_id`);--> statement-breakpoint
CREATE INDEX `events_contact` ON `events` (`contact_id`) WHERE "events"."contact_id" is not null;--> statement-breakpoint
CREATE INDEX `events_type` ON `events` (`workspace_id`,`type`,`at`,`sequence`);--> statement-breakpoint
CREATE INDEX `events_campaign` ON `events` (`workspace_id`,`campaign_id`,`type`,`at`,`sequence`) WHERE "events"."campaign_id" is not null;--> statement-breakpoint
CREATE INDEX `events_automation` ON `events` (`workspace_id`,`automation_id`,`type`,`at`,`sequence`) WHERE "events"."automation_id" is not null;--> statement-breakpoint
CREATE INDEX `events_test` ON `events` (`workspace_id`,`type`,`at`,`sequence`) WHERE email_id >= 'em_t';--> statement-breakpoint
CREATE INDEX `events_machine` ON `events` (`workspace_id`,`machine`,`type`,`at`,`sequence`) WHERE "events"."machine" is not null;--> statement-breakpoint
CREATE TABLE `file_contents` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`sha256` text NOT NULL,
	`size` integer NOT NULL,
	`activation_id` text,
	`staged_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_contents_kept` ON `file_contents` (`workspace_id`,`sha256`) WHERE "file_contents"."staged_at" is null;--> statement-breakpoint
CREATE INDEX `file_contents_workspace` ON `file_contents` (`workspace_id`);--> statement-breakpoint
CREATE TABLE `file_parts` (
	`content_id` text NOT NULL,
	`part` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`content_id`, `part`)
);
--> statement-breakpoint
CREATE TABLE `held_agent_events` (
	`id` integer PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`event` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `held_agent_events_activation` ON `held_agent_events` (`activation_id`,`id`);--> statement-breakpoint
CREATE TABLE `held_domains` (
	`domain` text PRIMARY KEY NOT NULL,
	`reason` text,
	`held_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `held_emails` (
	`domain` text NOT NULL,
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	PRIMARY KEY(`domain`, `workspace_id`, `email_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `held_requests` (
	`workspace_id` text NOT NULL,
	`email_id` text NOT NULL,
	`link_id` integer NOT NULL,
	`machine` integer NOT NULL,
	`reason` text,
	`client` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `email_id`, `link_id`, `machine`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotency` (
	`key_id` text NOT NULL,
	`route` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` integer NOT NULL,
	`answer` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`key_id`, `route`, `idempotency_key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_age` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `inbound_domains` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`domain` text NOT NULL,
	`status` text NOT NULL,
	`token` text NOT NULL,
	`last_error` text,
	`checked_at` integer,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	`verified_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inbound_domains_domain` ON `inbound_domains` (`workspace_id`,`domain`);--> statement-breakpoint
CREATE UNIQUE INDEX `inbound_domains_verified` ON `inbound_domains` (`domain`) WHERE status = 'VERIFIED';--> statement-breakpoint
CREATE INDEX `inbound_domains_list` ON `inbound_domains` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `inbound_reports` (
	`key` text PRIMARY KEY NOT NULL,
	`received_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `inbox` (
	`id` text PRIMARY KEY NOT NULL,
	`email_id` text,
	`workspace_id` text,
	`to_text` text NOT NULL,
	`from_text` text NOT NULL,
	`subject` text NOT NULL,
	`size` integer NOT NULL,
	`raw` blob NOT NULL,
	`received_at` integer NOT NULL,
	`test` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `inbox_to` ON `inbox` (`to_text`);--> statement-breakpoint
CREATE INDEX `inbox_test` ON `inbox` (`workspace_id`,`id`) WHERE test;--> statement-breakpoint
CREATE TABLE `inbox_bytes` (
	`hash` text PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `inbox_parts` (
	`mail_id` text NOT NULL,
	`part` integer NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`mail_id`, `part`)
);
--> statement-breakpoint
CREATE INDEX `inbox_parts_hash` ON `inbox_parts` (`hash`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` integer PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`payload` text NOT NULL,
	`state` text NOT NULL,
	`run_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`max_attempts` integer NOT NULL,
	`claims` integer NOT NULL,
	`claimed_by` text,
	`claimed_at` integer,
	`dedupe_key` text,
	`last_error` text,
	`created_at` integer NOT NULL,
	`lane` integer NOT NULL,
	`interruptions` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_state` ON `jobs` (`state`,`lane`,`run_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_dedupe` ON `jobs` (`dedupe_key`) WHERE "jobs"."dedupe_key" is not null;--> statement-breakpoint
CREATE INDEX `jobs_workspace` ON `jobs` ((payload ->> 'workspaceId'),`id`);--> statement-breakpoint
CREATE INDEX `jobs_dead` ON `jobs` ((payload ->> 'workspaceId'),`id`) WHERE state = 'dead';--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`permissions` text NOT NULL,
	`owner` integer NOT NULL,
	`test` integer NOT NULL,
	`hash` text NOT NULL,
	`preview` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer,
	`expires_at` integer,
	`senders` text,
	`networks` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash` ON `keys` (`hash`);--> statement-breakpoint
CREATE INDEX `keys_workspace` ON `keys` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `landing_page_days` (
	`page_id` text NOT NULL,
	`date` text NOT NULL,
	`views` integer NOT NULL,
	`visitors` integer NOT NULL,
	`submissions` integer NOT NULL,
	PRIMARY KEY(`page_id`, `date`)
);
--> statement-breakpoint
CREATE TABLE `landing_page_referrers` (
	`page_id` text NOT NULL,
	`date` text NOT NULL,
	`host` text NOT NULL,
	`views` integer NOT NULL,
	PRIMARY KEY(`page_id`, `date`, `host`)
);
--> statement-breakpoint
CREATE TABLE `landing_page_salts` (
	`date` text PRIMARY KEY NOT NULL,
	`salt` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `landing_page_submissions` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`page_id` text NOT NULL,
	`contact_id` text,
	`consent_text` text NOT NULL,
	`list_id` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `landing_page_submissions_page` ON `landing_page_submissions` (`page_id`,`id`);--> statement-breakpoint
CREATE INDEX `landing_page_submissions_contact` ON `landing_page_submissions` (`contact_id`);--> statement-breakpoint
CREATE TABLE `landing_page_visitors` (
	`date` text NOT NULL,
	`page_id` text NOT NULL,
	`visitor` text NOT NULL,
	PRIMARY KEY(`date`, `page_id`, `visitor`)
);
--> statement-breakpoint
CREATE TABLE `landing_pages` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`activation_id` text,
	`run_id` text,
	`slug` text NOT NULL,
	`title` text NOT NULL,
	`html` text,
	`blocks` text,
	`seo` text NOT NULL,
	`form` text,
	`has_form` integer NOT NULL,
	`lead_magnet_id` text,
	`list_id` text,
	`double_opt_in` integer NOT NULL,
	`redirect_url` text,
	`status` text NOT NULL,
	`version` integer NOT NULL,
	`content_mark` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`published_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `landing_pages_slug` ON `landing_pages` (`workspace_id`,`slug`);--> statement-breakpoint
CREATE INDEX `landing_pages_workspace` ON `landing_pages` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `landing_pages_magnet` ON `landing_pages` (`lead_magnet_id`);--> statement-breakpoint
CREATE TABLE `lead_magnets` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`activation_id` text,
	`run_id` text,
	`sha256` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`file_name` text NOT NULL,
	`content_type` text NOT NULL,
	`size` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `lead_magnets_workspace` ON `lead_magnets` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `lead_magnets_content` ON `lead_magnets` (`workspace_id`,`sha256`);--> statement-breakpoint
CREATE INDEX `lead_magnets_activation` ON `lead_magnets` (`activation_id`);--> statement-breakpoint
CREATE TABLE `list_members` (
	`list_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`status` text NOT NULL,
	`added_at` integer NOT NULL,
	`joined_at` integer,
	`token_hash` text,
	`expires_at` integer,
	PRIMARY KEY(`list_seq`, `contact_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `list_members_status` ON `list_members` (`list_seq`,`status`,`contact_seq`);--> statement-breakpoint
CREATE INDEX `list_members_contact` ON `list_members` (`contact_seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `list_members_token` ON `list_members` (`token_hash`);--> statement-breakpoint
CREATE TABLE `listings` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`webhook_url` text NOT NULL,
	`permissions` text NOT NULL,
	`install_redirects` text NOT NULL,
	`settings_schema` text,
	`version` integer NOT NULL,
	`permissions_since` text NOT NULL,
	`state` text NOT NULL,
	`period` integer NOT NULL,
	`listed_at` integer,
	`expires_at` integer,
	`ended_at` integer,
	`subscription` text,
	`secret` blob NOT NULL,
	`next_secret` blob,
	`next_secret_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `listings_slug` ON `listings` (`slug`);--> statement-breakpoint
CREATE INDEX `listings_workspace` ON `listings` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `listings_catalog` ON `listings` (`state`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `listings_subscription` ON `listings` (`subscription`);--> statement-breakpoint
CREATE TABLE `lists` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`double_opt_in` integer NOT NULL,
	`confirmation_from` text,
	`confirmation_subject` text,
	`public` integer DEFAULT true NOT NULL,
	`language` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `lists_id` ON `lists` (`id`);--> statement-breakpoint
CREATE INDEX `lists_workspace` ON `lists` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `mail_alarms` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`limits` text NOT NULL,
	`alarms` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mail_metrics` (
	`workspace_id` text NOT NULL,
	`test` integer NOT NULL,
	`dimension` text NOT NULL,
	`day` integer NOT NULL,
	`value` text NOT NULL,
	`counts` blob NOT NULL,
	`erased` blob,
	PRIMARY KEY(`workspace_id`, `test`, `dimension`, `day`, `value`)
);
--> statement-breakpoint
CREATE TABLE `mail_receivers` (
	`domain` text PRIMARY KEY NOT NULL,
	`receiver` text,
	`checked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text,
	`role` text NOT NULL,
	`invited_by` text NOT NULL,
	`account` text,
	`mails` integer NOT NULL,
	`mails_since` integer NOT NULL,
	`created_at` integer NOT NULL,
	`joined_at` integer,
	`last_sign_in_at` integer,
	`removed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `members_address` ON `members` (`workspace_id`,`email_key`);--> statement-breakpoint
CREATE INDEX `members_workspace` ON `members` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `members_email` ON `members` (`email_key`);--> statement-breakpoint
CREATE TABLE `messages` (
	`id` text PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`run_id` text,
	`type` text NOT NULL,
	`direction` text NOT NULL,
	`author` text NOT NULL,
	`text` text NOT NULL,
	`format` text NOT NULL,
	`external_id` text,
	`in_reply_to` text,
	`received_id` text,
	`created_at` integer NOT NULL,
	`read_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_sequence` ON `messages` (`activation_id`,`sequence`);--> statement-breakpoint
CREATE UNIQUE INDEX `messages_external` ON `messages` (`activation_id`,`external_id`);--> statement-breakpoint
CREATE INDEX `messages_activation` ON `messages` (`activation_id`,`id`);--> statement-breakpoint
CREATE INDEX `messages_unread` ON `messages` (`activation_id`,`direction`,`read_at`);--> statement-breakpoint
CREATE INDEX `messages_received` ON `messages` (`received_id`) WHERE "messages"."received_id" is not null;--> statement-breakpoint
CREATE INDEX `messages_waiting` ON `messages` (`workspace_id`,`direction`,`type`,`id`) WHERE "messages"."read_at" is null;--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `payment_notices` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`ended` text,
	`at` integer NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_notices_ended` ON `payment_notices` (`ended`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`listing_id` text NOT NULL,
	`provider` text NOT NULL,
	`session` text NOT NULL,
	`state` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`checkout_url` text NOT NULL,
	`subscription` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`paid_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_session` ON `payments` (`session`);--> statement-breakpoint
CREATE INDEX `payments_listing` ON `payments` (`listing_id`,`id`);--> statement-breakpoint
CREATE INDEX `payments_workspace` ON `payments` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `plans` (
	`workspace_id` text PRIMARY KEY NOT NULL,
	`plan` text NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `proposals` (
	`message_id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`content` text NOT NULL,
	`created` text
);
--> statement-breakpoint
CREATE TABLE `provider_connections` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`provider` text NOT NULL,
	`token` text NOT NULL,
	`key` blob NOT NULL,
	`description` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `provider_connections_token` ON `provider_connections` (`token`);--> statement-breakpoint
CREATE INDEX `provider_connections_workspace` ON `provider_connections` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `received` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`thread_id` text NOT NULL,
	`email_id` text,
	`contact_id` text,
	`campaign_id` text,
	`to_text` text NOT NULL,
	`to_key` text NOT NULL,
	`from_text` text,
	`from_key` text,
	`from_name` text,
	`subject` text NOT NULL,
	`message_id` text,
	`message_key` text NOT NULL,
	`content_key` text NOT NULL,
	`auto_reply` text,
	`files` integer NOT NULL,
	`authentication` text,
	`size` integer NOT NULL,
	`truncated` integer NOT NULL,
	`received_at` integer NOT NULL,
	`reply_to` text,
	`reference_ids` text NOT NULL,
	`headers` text NOT NULL,
	`reply_text` text NOT NULL,
	`text_body` text NOT NULL,
	`html` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `received_message` ON `received` (`workspace_id`,`message_key`,`to_key`,`content_key`);--> statement-breakpoint
CREATE INDEX `received_list` ON `received` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `received_from` ON `received` (`workspace_id`,`from_key`,`id`);--> statement-breakpoint
CREATE INDEX `received_to` ON `received` (`workspace_id`,`to_key`,`id`);--> statement-breakpoint
CREATE INDEX `received_thread` ON `received` (`workspace_id`,`thread_id`,`id`);--> statement-breakpoint
CREATE INDEX `received_email` ON `received` (`workspace_id`,`email_id`,`id`);--> statement-breakpoint
CREATE TABLE `received_files` (
	`received_id` text NOT NULL,
	`number` integer NOT NULL,
	`filename` text NOT NULL,
	`content_type` text NOT NULL,
	`content_id` text,
	`size` integer NOT NULL,
	PRIMARY KEY(`received_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `received_parts` (
	`received_id` text NOT NULL,
	`file` integer NOT NULL,
	`part` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`received_id`, `file`, `part`)
);
--> statement-breakpoint
CREATE TABLE `received_quotas` (
	`workspace_id` text NOT NULL,
	`part` integer NOT NULL,
	`day` integer NOT NULL,
	`mails` integer NOT NULL,
	`kilobytes` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `part`)
);
--> statement-breakpoint
CREATE TABLE `relay_tokens` (
	`relay` text PRIMARY KEY NOT NULL,
	`basis` text NOT NULL,
	`token` blob NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `relays` (
	`name` text PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`secrets` blob NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `request_records` (
	`seq` integer PRIMARY KEY NOT NULL,
	`workspace_id` text,
	`at` integer NOT NULL,
	`request_id` text NOT NULL,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`route` text,
	`status` integer NOT NULL,
	`error` text,
	`tenths` integer NOT NULL,
	`key_id` text,
	`key_preview` text
);
--> statement-breakpoint
CREATE INDEX `request_records_workspace` ON `request_records` (`workspace_id`,`seq`);--> statement-breakpoint
CREATE TABLE `run_logs` (
	`id` integer PRIMARY KEY NOT NULL,
	`run` text NOT NULL,
	`level` text NOT NULL,
	`message` text NOT NULL,
	`data` text,
	`at` integer NOT NULL,
	`agent_at` integer
);
--> statement-breakpoint
CREATE INDEX `run_logs_run` ON `run_logs` (`run`,`id`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`run_id` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` text NOT NULL,
	`title` text,
	`trigger` text,
	`parent_run_id` text,
	`metadata` text,
	`started_at` integer NOT NULL,
	`last_heartbeat_at` integer NOT NULL,
	`deadline_at` integer,
	`waiting_for` text,
	`waiting_on` text,
	`finished_at` integer,
	`progress` text,
	`checkpoint` text,
	`summary` text,
	`output` text,
	`error` text,
	`metrics` text,
	`failure_reason` text,
	`credits_consumed` integer NOT NULL,
	`cancel_requested` integer NOT NULL,
	`log_sequence` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_run` ON `runs` (`activation_id`,`run_id`);--> statement-breakpoint
CREATE INDEX `runs_activation` ON `runs` (`activation_id`,`id`);--> statement-breakpoint
CREATE INDEX `runs_live` ON `runs` (`activation_id`,`status`);--> statement-breakpoint
CREATE INDEX `runs_deadline` ON `runs` (`status`,`deadline_at`);--> statement-breakpoint
CREATE TABLE `segment_fields` (
	`workspace_id` text NOT NULL,
	`field` text NOT NULL,
	`segment_seq` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `field`, `segment_seq`)
);
--> statement-breakpoint
CREATE INDEX `segment_fields_segment` ON `segment_fields` (`segment_seq`);--> statement-breakpoint
CREATE TABLE `segment_members` (
	`segment_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`entered_at` integer NOT NULL,
	PRIMARY KEY(`segment_seq`, `contact_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `segment_members_contact` ON `segment_members` (`contact_seq`);--> statement-breakpoint
CREATE TABLE `segments` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`rules` text NOT NULL,
	`timed` integer NOT NULL,
	`state` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`deleted_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `segments_id` ON `segments` (`id`);--> statement-breakpoint
CREATE INDEX `segments_workspace` ON `segments` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `senders` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`status` text NOT NULL,
	`token` text NOT NULL,
	`relay` text,
	`last_error` text,
	`checked_at` integer,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	`verified_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `senders_verified_domain` ON `senders` (`value`) WHERE kind = 'domain' AND status = 'VERIFIED';--> statement-breakpoint
CREATE UNIQUE INDEX `senders_value` ON `senders` (`workspace_id`,`value`);--> statement-breakpoint
CREATE UNIQUE INDEX `senders_token` ON `senders` (`token`);--> statement-breakpoint
CREATE INDEX `senders_list` ON `senders` (`workspace_id`,`id`);--> statement-breakpoint
CREATE TABLE `suppressions` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`email` text NOT NULL,
	`reason` text NOT NULL,
	`scope` text NOT NULL,
	`source` text NOT NULL,
	`email_id` text,
	`note` text,
	`unsubscribed_at` integer,
	`unsubscribed_source` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_id` ON `suppressions` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `suppressions_email` ON `suppressions` (`workspace_id`,`email`);--> statement-breakpoint
CREATE INDEX `suppressions_workspace` ON `suppressions` (`workspace_id`,`seq`);--> statement-breakpoint
CREATE INDEX `suppressions_filter` ON `suppressions` (`workspace_id`,`reason`,`scope`,`source`,`seq`);--> statement-breakpoint
CREATE INDEX `suppressions_since` ON `suppressions` (`workspace_id`,`created_at`,`seq`);--> statement-breakpoint
CREATE TABLE `template_versions` (
	`template_id` text NOT NULL,
	`version` integer NOT NULL,
	`id` text NOT NULL,
	`subject` text,
	`from_text` text,
	`reply_to` text,
	`html` text,
	`text_body` text,
	`blocks` text,
	`rendered_from` text,
	`layout` text,
	`variables` text NOT NULL,
	`hash` text NOT NULL,
	`restored_from` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`template_id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`id` text PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`category` text,
	`type` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`revision` integer NOT NULL,
	`version` integer,
	`published_hash` text,
	`published_uses` text,
	`draft_hash` text NOT NULL,
	`draft_uses` text NOT NULL,
	`proposed_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`published_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `templates_slug` ON `templates` (`workspace_id`,`slug`);--> statement-breakpoint
CREATE INDEX `templates_workspace` ON `templates` (`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `templates_category` ON `templates` (`workspace_id`,`category`,`id`);--> statement-breakpoint
CREATE TABLE `tracked_ids` (
	`workspace_id` text NOT NULL,
	`id` text NOT NULL,
	`event_key` integer NOT NULL,
	PRIMARY KEY(`workspace_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `tracked_ids_event` ON `tracked_ids` (`event_key`);--> statement-breakpoint
CREATE TABLE `tracked_links` (
	`id` integer PRIMARY KEY NOT NULL,
	`workspace_id` text NOT NULL,
	`hash` text NOT NULL,
	`url` text NOT NULL,
	`owner_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tracked_links_hash` ON `tracked_links` (`workspace_id`,`hash`);--> statement-breakpoint
CREATE TABLE `wakeups` (
	`id` text PRIMARY KEY NOT NULL,
	`activation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`run_id` text,
	`status` text NOT NULL,
	`fire_at` integer NOT NULL,
	`reason` text NOT NULL,
	`payload` text,
	`dedupe_key` text,
	`scheduled` text,
	`suspend_run` integer NOT NULL,
	`created_at` integer NOT NULL,
	`fired_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wakeups_dedupe` ON `wakeups` (`activation_id`,`scheduled`);--> statement-breakpoint
CREATE INDEX `wakeups_activation` ON `wakeups` (`activation_id`,`id`);--> statement-breakpoint
CREATE INDEX `wakeups_due` ON `wakeups` (`status`,`fire_at`);--> statement-breakpoint
CREATE TABLE `webhook_attempts` (
	`id` integer PRIMARY KEY NOT NULL,
	`event_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`at` integer NOT NULL,
	`ms` integer NOT NULL,
	`class` text NOT NULL,
	`http_status` integer,
	`message` text,
	`answer` text
);
--> statement-breakpoint
CREATE INDEX `webhook_attempts_event` ON `webhook_attempts` (`event_id`,`attempt`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`subject_id` text,
	`sequence` integer NOT NULL,
	`at` integer NOT NULL,
	`event_key` integer,
	`body` text NOT NULL,
	`sealed` blob,
	`passes_hold` integer DEFAULT false NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer,
	`last_attempt` integer,
	`last_at` integer,
	`last_ms` integer,
	`last_class` text,
	`last_status` integer,
	`last_error` text,
	`last_answer` text,
	`traceparent` text,
	`settled_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_endpoint` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_type` ON `webhook_deliveries` (`endpoint_id`,`type`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_settled` ON `webhook_deliveries` (`endpoint_id`,`state`,`id`) WHERE "webhook_deliveries"."settled_at" is not null;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_open` ON `webhook_deliveries` (`stream_id`,`sequence`) WHERE "webhook_deliveries"."settled_at" is null;--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`type` text NOT NULL,
	`subject_id` text,
	`sequence` integer NOT NULL,
	`at` integer NOT NULL,
	`event_key` integer,
	`body` text NOT NULL,
	`sealed` blob,
	`passes_hold` integer DEFAULT false NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer,
	`last_attempt` integer,
	`last_at` integer,
	`last_ms` integer,
	`last_class` text,
	`last_status` integer,
	`last_error` text,
	`last_answer` text,
	`traceparent` text,
	`settled_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_events_sequence` ON `webhook_events` (`stream_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `webhook_events_endpoint` ON `webhook_events` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_state` ON `webhook_events` (`endpoint_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_type` ON `webhook_events` (`endpoint_id`,`type`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_open` ON `webhook_events` (`stream_id`,`sequence`) WHERE "webhook_events"."settled_at" is null;--> statement-breakpoint
CREATE TABLE `webhook_streams` (
	`stream_id` text PRIMARY KEY NOT NULL,
	`endpoint_id` text NOT NULL,
	`due_at` integer,
	`claim` text,
	`interrupted` integer DEFAULT false NOT NULL,
	`held` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_streams_due` ON `webhook_streams` (`endpoint_id`,`due_at`) WHERE "webhook_streams"."due_at" is not null;--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`relay` text,
	`replies` integer NOT NULL,
	`created_at` integer NOT NULL
);

--> statement-breakpoint
-- Parts of addresses and names, by the three characters they are made of. The text itself stays in `contacts`.
CREATE VIRTUAL TABLE `contacts_search` USING fts5(`search_text`, content = 'contacts', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0);
--> statement-breakpoint
CREATE VIRTUAL TABLE `contacts_trigrams` USING fts5vocab('contacts_search', 'row');
--> statement-breakpoint
CREATE TRIGGER `contacts_search_insert` AFTER INSERT ON `contacts` BEGIN
	INSERT INTO `contacts_search` (`rowid`, `search_text`) VALUES (new.`seq`, new.`search_text`);
END;
--> statement-breakpoint
CREATE TRIGGER `contacts_search_delete` AFTER DELETE ON `contacts` BEGIN
	INSERT INTO `contacts_search` (`contacts_search`, `rowid`, `search_text`) VALUES ('delete', old.`seq`, old.`search_text`);
END;
--> statement-breakpoint
CREATE TRIGGER `contacts_search_update` AFTER UPDATE OF `search_text` ON `contacts` WHEN old.`search_text` <> new.`search_text` BEGIN
	INSERT INTO `contacts_search` (`contacts_search`, `rowid`, `search_text`) VALUES ('delete', old.`seq`, old.`search_text`);
	INSERT INTO `contacts_search` (`rowid`, `search_text`) VALUES (new.`seq`, new.`search_text`);
END;
--> statement-breakpoint
-- The same for suppressed addresses.
CREATE VIRTUAL TABLE `suppressions_search` USING fts5(`email`, content = 'suppressions', content_rowid = 'seq', tokenize = 'trigram case_sensitive 1', detail = 'none', columnsize = 0);
--> statement-breakpoint
CREATE VIRTUAL TABLE `suppressions_trigrams` USING fts5vocab('suppressions_search', 'row');
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_insert` AFTER INSERT ON `suppressions` BEGIN
	INSERT INTO `suppressions_search` (`rowid`, `email`) VALUES (new.`seq`, new.`email`);
END;
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_delete` AFTER DELETE ON `suppressions` BEGIN
	INSERT INTO `suppressions_search` (`suppressions_search`, `rowid`, `email`) VALUES ('delete', old.`seq`, old.`email`);
END;
--> statement-breakpoint
CREATE TRIGGER `suppressions_search_update` AFTER UPDATE OF `email` ON `suppressions` WHEN old.`email` <> new.`email` BEGIN
	INSERT INTO `suppressions_search` (`suppressions_search`, `rowid`, `email`) VALUES ('delete', old.`seq`, old.`email`);
	INSERT INTO `suppressions_search` (`rowid`, `email`) VALUES (new.`seq`, new.`email`);
END;
