// Writes the cases of the export that tests/onnx/check_export.py runs, or reads them back: usage: anyshape_export_cases FOLDER [KIND]
#include "onnx/export/case_writer.h"

#include <exception>
#include <iostream>

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: anyshape_export_cases FOLDER [models|layers|ops|back]\n";
    return 2;
  }
  try {
    const std::string only = count > 2 ? arguments[2] : "";
    if (only == "back") return anyshape::test::read_back(arguments[1]);
    anyshape::test::CaseWriter writer(arguments[1]);
    if (only.empty() || only == "models") anyshape::test::write_models(writer);
    if (only.empty() || only == "layers") anyshape::test::write_layers(writer);
    if (only.empty() || only == "ops") anyshape::test::write_ops(writer);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
