import { customResourceDefinitionKind } from '../../api/kinds/apiextensions/custom-resource-definition.ts';
import { karpenterDefinitions } from '../../api/kinds/karpenter/index.ts';
import type { Client } from '../../client/client.ts';

/** The autoscaler's kinds are CustomResourceDefinitions: those of the real Karpenter, if they are there, stay. @throws ApiError */
export async function ensureKarpenterDefinitions(client: Client): Promise<void> {
  for (const { status: _, ...definition } of karpenterDefinitions) {
    const made = await client.create(customResourceDefinitionKind, definition);
    if (!made.ok && made.reason !== 'alreadyExists') throw made.error;
  }
}
