import type { EmbeddingModel } from 'id2vec';

export interface Step {
  step: number;
  loss: number;
}

export function train(
  text: string,
  options: { steps: number; seed: number; onStep?: (progress: Step) => void },
): Promise<{ model: EmbeddingModel; words: string[]; losses: number[] }>;
