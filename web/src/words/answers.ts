/** Texts about decisions on tool calls. Those of their forms are not here yet. */

export const answerWords = {
  undo: 'Undo',
  undoByKey: 'Undo (u)',
} as const;
