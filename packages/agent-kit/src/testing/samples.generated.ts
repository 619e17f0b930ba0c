// Generated from the contract by `npm run generate`.
import type { AgentEvents } from "../contract.generated.ts";

/** What sample events of each type say, besides the fields that all have. */
export const SAMPLES: { readonly [T in keyof AgentEvents]: readonly [Partial<AgentEvents[T]>, ...Partial<AgentEvents[T]>[]] } =
  {
  "agent.activated": [
    {
      "apiKey": "ms_agent_sample_key",
      "agentSlug": "sample-agent",
      "organizationName": "Sample Brand",
      "scopes": [
        "agent:write_runs",
        "agent:post_messages",
        "agent:read_messages"
      ],
      "settings": {}
    }
  ],
  "approval_response": [
    {
      "runId": "run_sample",
      "messageId": "msg_sample",
      "decision": "approved",
      "comment": null,
      "answeredAt": "2026-01-01T12:00:00.000Z"
    },
    {
      "runId": "run_sample",
      "messageId": "msg_sample",
      "decision": "rejected",
      "comment": null,
      "answeredAt": "2026-01-01T12:00:00.000Z"
    },
    {
      "runId": "run_sample",
      "messageId": "msg_sample",
      "decision": "expired",
      "comment": null,
      "answeredAt": "2026-01-01T12:00:00.000Z"
    },
    {
      "runId": "run_sample",
      "messageId": "msg_sample",
      "decision": "an-option",
      "comment": null,
      "answeredAt": "2026-01-01T12:00:00.000Z"
    }
  ],
  "message.posted": [
    {
      "messageId": "msg_sample",
      "messageSequence": 1,
      "text": "Für dich ✉",
      "format": "plain",
      "inReplyTo": null
    }
  ],
  "agent.paused": [
    {
      "reason": "user_paused"
    },
    {
      "reason": "plan_downgrade"
    },
    {
      "reason": "webhook_failure"
    }
  ],
  "agent.resumed": [
    {}
  ],
  "agent.deactivated": [
    {
      "reason": "user_deactivated"
    },
    {
      "reason": "plan_downgrade"
    },
    {
      "reason": "admin_revoke"
    }
  ],
  "agent.scopes_changed": [
    {
      "scopes": [
        "agent:write_runs",
        "agent:post_messages"
      ],
      "added": [
        "agent:post_messages"
      ]
    }
  ],
  "agent.settings_changed": [
    {
      "settings": {
        "language": "de",
        "posts": 3,
        "drafts": true
      }
    }
  ],
  "run_force_failed": [
    {
      "runId": "run_sample",
      "lastHeartbeatAt": "2026-01-01T12:00:00.000Z"
    }
  ],
  "test.ping": [
    {
      "activationId": "act_test",
      "test": true
    }
  ],
  "agent.wakeup": [
    {
      "wakeupId": "wku_sample",
      "reason": "Look at the numbers",
      "payload": null,
      "scheduledFor": "2026-01-01T12:00:00.000Z"
    }
  ]
};
