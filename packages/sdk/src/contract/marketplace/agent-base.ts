/** Where the endpoints of one activation begin. */
export const AGENT_BASE = "/api/agents/activations/:activationId";
