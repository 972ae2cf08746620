/** Texts about what messages contain besides text. */

export const contentWords = {
  image: 'Image',
  document: 'Document',
} as const;
