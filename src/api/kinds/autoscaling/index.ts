import { untypedKind, type Kind } from '../../kind.ts';
import { horizontalPodAutoscalerKind, oldHorizontalPodAutoscalerKind } from './horizontal-pod-autoscaler.ts';

/** Kept for those who scale: nobody here does. */
export const autoscalingKinds: readonly Kind[] = [untypedKind(horizontalPodAutoscalerKind), untypedKind(oldHorizontalPodAutoscalerKind)];
