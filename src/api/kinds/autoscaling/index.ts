import { untypedKind, type Kind } from '../../kind.ts';
import { horizontalPodAutoscalerKind, oldHorizontalPodAutoscalerKind } from './horizontal-pod-autoscaler.ts';

/** Stored and served for external autoscalers: Mooring has no autoscaler for pods. */
export const autoscalingKinds: readonly Kind[] = [untypedKind(horizontalPodAutoscalerKind), untypedKind(oldHorizontalPodAutoscalerKind)];
