/** The files of an input that is being written: chosen, pasted or dropped. */
import { useState, type ClipboardEvent, type DragEvent } from 'react';
import { showError, showNotice } from '../../../ui/layout/toaster.tsx';
import { composerWords } from '../../../words.ts';
import { MOST_BYTES, attach, type Attached } from './attachments.ts';

const words = composerWords.attachments;

type Attachments = {
  files: readonly Attached[];
  setFiles: (files: readonly Attached[]) => void;
  add: (given: FileList) => void;
  paste: (event: ClipboardEvent) => void;
  drop: (event: DragEvent) => void;
};

export function useAttachments(): Attachments {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const read = async (given: Iterable<File>): Promise<void> => {
    const attached = await Promise.all([...given].map(attach));
    const taken = attached.filter((one) => one !== null);
    if (taken.length < attached.length) showNotice(words.onlySome);
    const all = [...files, ...taken];
    if (all.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES) showNotice(words.tooLarge);
    else setFiles(all);
  };
  const add = (given: FileList): void => {
    read(given).catch((error: unknown) => showError(words.failed, error));
  };
  return {
    files,
    setFiles,
    add,
    paste(event) {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      add(event.clipboardData.files);
    },
    drop(event) {
      event.preventDefault();
      add(event.dataTransfer.files);
    },
  };
}
