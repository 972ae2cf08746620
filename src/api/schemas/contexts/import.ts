/** The formats of imports. */
import { Type } from 'typebox';
import { nullable, ref, strict } from '../../../schema/build.ts';
import { RoleName, WorkerConfig } from '../../../schema/config.ts';
import { Title, UserName } from '../common.ts';
import { ContextExport, Pair } from './export.ts';
import { CreateWorker } from '../workers/worker.ts';

export const ImportQuery = strict({ user: Type.Optional(UserName) });

export const PairedImport = strict(
  {
    title: Type.Optional(nullable(Title)),
    worker: Type.Optional(
      strict({ name: Type.Optional(CreateWorker.properties.name), role: Type.Optional(nullable(RoleName)) }),
    ),
    config: Type.Optional(ref(WorkerConfig)),
    entries: Type.Array(ref(Pair)),
  },
  { $id: 'PairedImport' },
);

export const FolderImport = strict(
  {
    files: Type.Unsafe<{ [name: string]: unknown }>({
      type: 'object',
      description: 'The parsed files by name: metadata.json, message_index.json, messages/<id>.json.',
    }),
  },
  { $id: 'FolderImport' },
);

export const ImportContext = Type.Union([ref(ContextExport), ref(PairedImport), ref(FolderImport)], {
  $id: 'ImportContext',
  type: 'object',
});
