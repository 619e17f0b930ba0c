/** The prefix of the paths of an activation's endpoints. */
export const AGENT_BASE = "/api/agents/activations/:activationId";
