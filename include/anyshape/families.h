// The families by name: as::losses::huber is as::huber. For programs that would rather say where a name is from, and for completion in editors.
#pragma once
#include <anyshape/activation.h>
#include <anyshape/callback.h>
#include <anyshape/initializer.h>
#include <anyshape/layer.h>
#include <anyshape/layers/augmentation.h>
#include <anyshape/layers/core.h>
#include <anyshape/layers/image.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/layers/sequence.h>
#include <anyshape/loss.h>
#include <anyshape/metric.h>
#include <anyshape/ops/elementwise.h>
#include <anyshape/ops/neural.h>
#include <anyshape/optimizer.h>
#include <anyshape/regularizer.h>
#include <anyshape/schedule.h>

#pragma GCC visibility push(default)
namespace anyshape::activations {

using anyshape::ActivationFunction;
using anyshape::elu;
using anyshape::gelu;
using anyshape::hard_sigmoid;
using anyshape::leaky_relu;
using anyshape::log_sigmoid;
using anyshape::log_softmax;
using anyshape::mish;
using anyshape::relu;
using anyshape::relu6;
using anyshape::selu;
using anyshape::sigmoid;
using anyshape::silu;
using anyshape::softmax;
using anyshape::softplus;
using anyshape::softsign;
using anyshape::square;
using anyshape::tanh;

/// The names that Keras has for some of the ops above.
///@{
inline constexpr Tensor (*exponential)(const Tensor&) = anyshape::exp;
inline constexpr Tensor (*swish)(const Tensor&) = anyshape::silu;
///@}

}  // namespace anyshape::activations
namespace anyshape::callbacks {

using anyshape::AnyCallback;
using anyshape::Callback;
using anyshape::CSVLogger;
using anyshape::EarlyStopping;
using anyshape::LambdaCallback;
using anyshape::LearningRateScheduler;
using anyshape::ModelCheckpoint;
using anyshape::ReduceLROnPlateau;
using anyshape::TerminateOnNaN;

}  // namespace anyshape::callbacks
namespace anyshape::initializers {

using anyshape::constant;
using anyshape::glorot_normal;
using anyshape::glorot_uniform;
using anyshape::he_normal;
using anyshape::he_uniform;
using anyshape::identity_matrix;
using anyshape::Initializer;
using anyshape::lecun_normal;
using anyshape::lecun_uniform;
using anyshape::orthogonal;
using anyshape::random_normal;
using anyshape::random_uniform;
using anyshape::truncated_normal;
using anyshape::variance_scaling;

/// The names that Keras has for some of these: as::zeros, as::ones and as::identity are tensors and an op.
///@{
inline Initializer zeros() { return "zeros"; }
inline Initializer ones() { return "ones"; }
inline Initializer identity(double gain = 1) { return identity_matrix(gain); }
///@}

}  // namespace anyshape::initializers
namespace anyshape::layers {

using anyshape::Activation;
using anyshape::AdaptiveAveragePooling2D;
using anyshape::AdaptiveMaxPooling2D;
using anyshape::Add;
using anyshape::AnyLayer;
using anyshape::AveragePooling1D;
using anyshape::AveragePooling2D;
using anyshape::AveragePooling3D;
using anyshape::BatchNormalization;
using anyshape::Bidirectional;
using anyshape::Cell;
using anyshape::CenterCrop;
using anyshape::Concatenate;
using anyshape::Conv1D;
using anyshape::Conv1DTranspose;
using anyshape::Conv2D;
using anyshape::Conv2DTranspose;
using anyshape::Conv3D;
using anyshape::Conv3DTranspose;
using anyshape::Cropping1D;
using anyshape::Cropping2D;
using anyshape::Cropping3D;
using anyshape::Dense;
using anyshape::DepthwiseConv1D;
using anyshape::DepthwiseConv2D;
using anyshape::Dropout;
using anyshape::Embedding;
using anyshape::FillMissing;
using anyshape::Flatten;
using anyshape::GlobalAveragePooling1D;
using anyshape::GlobalAveragePooling2D;
using anyshape::GlobalAveragePooling3D;
using anyshape::GlobalMaxPooling1D;
using anyshape::GlobalMaxPooling2D;
using anyshape::GlobalMaxPooling3D;
using anyshape::GroupNormalization;
using anyshape::GRU;
using anyshape::Lambda;
using anyshape::Layer;
using anyshape::LayerNormalization;
using anyshape::LSTM;
using anyshape::Masking;
using anyshape::MaxPooling1D;
using anyshape::MaxPooling2D;
using anyshape::MaxPooling3D;
using anyshape::MultiHeadAttention;
using anyshape::Multiply;
using anyshape::Normalization;
using anyshape::RandomBrightness;
using anyshape::RandomContrast;
using anyshape::RandomCrop;
using anyshape::RandomFlip;
using anyshape::RandomRotation;
using anyshape::RandomTranslation;
using anyshape::RandomZoom;
using anyshape::RecurrentLayer;
using anyshape::Rescaling;
using anyshape::Reshape;
using anyshape::Resizing;
using anyshape::RNN;
using anyshape::SeparableConv1D;
using anyshape::SeparableConv2D;
using anyshape::SimpleRNN;
using anyshape::TimeDistributed;
using anyshape::UpSampling1D;
using anyshape::UpSampling2D;
using anyshape::UpSampling3D;
using anyshape::ZeroPadding1D;
using anyshape::ZeroPadding2D;
using anyshape::ZeroPadding3D;

}  // namespace anyshape::layers
namespace anyshape::losses {

using anyshape::binary_crossentropy;
using anyshape::binary_focal_crossentropy;
using anyshape::categorical_crossentropy;
using anyshape::cosine_similarity;
using anyshape::hinge;
using anyshape::huber;
using anyshape::kl_divergence;
using anyshape::log_cosh;
using anyshape::Loss;
using anyshape::mae;
using anyshape::mape;
using anyshape::mean_absolute_error;
using anyshape::mean_absolute_percentage_error;
using anyshape::mean_squared_error;
using anyshape::mean_squared_logarithmic_error;
using anyshape::mse;
using anyshape::msle;
using anyshape::poisson;
using anyshape::sparse_categorical_crossentropy;
using anyshape::squared_hinge;

}  // namespace anyshape::losses
namespace anyshape::metrics {

using anyshape::accuracy;
using anyshape::auc;
using anyshape::binary_accuracy;
using anyshape::categorical_accuracy;
using anyshape::f1_score;
using anyshape::mean_metric;
using anyshape::Metric;
using anyshape::precision;
using anyshape::recall;
using anyshape::root_mean_squared_error;
using anyshape::sparse_categorical_accuracy;
using anyshape::sparse_top_k_categorical_accuracy;
using anyshape::StreamingMetric;
using anyshape::top_k_categorical_accuracy;

}  // namespace anyshape::metrics
namespace anyshape::optimizers {

using anyshape::adagrad;
using anyshape::adam;
using anyshape::adamw;
using anyshape::Optimizer;
using anyshape::optimizer;
using anyshape::rmsprop;
using anyshape::sgd;

}  // namespace anyshape::optimizers
namespace anyshape::regularizers {

using anyshape::l1;
using anyshape::l1_l2;
using anyshape::l2;
using anyshape::Regularizer;

}  // namespace anyshape::regularizers
namespace anyshape::schedules {

using anyshape::cosine_decay;
using anyshape::cosine_decay_restarts;
using anyshape::exponential_decay;
using anyshape::inverse_time_decay;
using anyshape::piecewise_constant_decay;
using anyshape::polynomial_decay;
using anyshape::Schedule;

}  // namespace anyshape::schedules
#pragma GCC visibility pop
