/** Provider throttles, for the operator. */
import { liftThrottle } from '../../../commands/providers/lift-throttle.ts';
import { perform } from '../../../commands/perform.ts';
import { PROVIDERS } from '../../../core/model/model.ts';
import { oneOf, plainText, strict } from '../../../schema/build.ts';
import type { ApiPorts, App } from '../../server/ports.ts';
import { Empty } from '../../schemas/common.ts';
import { audited } from '../../request/audited.ts';
import { orRefuse } from '../../response/problem.ts';

const ThrottleParams = strict({
  name: oneOf(PROVIDERS),
  id: plainText(100, 1, 'From `GET /api/system`.'),
});

export function throttleRoutes(app: App, ports: ApiPorts): void {
  app.delete(
    '/api/providers/:name/throttles/:id',
    {
      config: { access: 'operator' },
      schema: {
        summary: 'End the throttles of a model, so that the jobs that wait for them go on at once, gradually',
        operationId: 'liftThrottle',
        tags: ['system'],
        params: ThrottleParams,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { name, id } = request.params;
      const act = { action: 'throttle.ended', target: id, detail: { provider: name } } as const;
      const command = audited(ports, { request, tenantId: null }, liftThrottle(name, id), () => [act]);
      orRefuse(await perform(ports, command));
      reply.code(204);
      return null;
    },
  );
}
