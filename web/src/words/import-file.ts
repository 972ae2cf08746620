/** Why a file or a folder could not be imported. */

export const importFileWords = {
  interrupted: 'The upload was interrupted: the API could not be reached or closed the connection.',
  noMessage: (status: number) => `The API answered with status ${status} and no error message.`,
  noMetadata: 'This folder contains no metadata.json.',
  notJson: (file: string) => `${file} is not valid JSON.`,
} as const;
