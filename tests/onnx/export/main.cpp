// Writes the cases of the export that tests/onnx/check_export.py runs: usage: anyshape_export_cases FOLDER
#include "onnx/export/case_writer.h"

#include <exception>
#include <iostream>

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: anyshape_export_cases FOLDER [models|layers|ops]\n";
    return 2;
  }
  try {
    anyshape::test::CaseWriter writer(arguments[1]);
    const std::string only = count > 2 ? arguments[2] : "";
    if (only.empty() || only == "models") anyshape::test::write_models(writer);
    if (only.empty() || only == "layers") anyshape::test::write_layers(writer);
    if (only.empty() || only == "ops") anyshape::test::write_ops(writer);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
