/** The topic on which every process hears that a message is on its way or its status moved; the key is `agentId/messageId`. */
export const MESSAGE_CHANGED = 'message_changed'
